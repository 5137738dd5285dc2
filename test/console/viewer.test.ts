import { expect, it } from 'vitest'
import { CONTRACT, type RouteName } from '../../src/http/index.js'
import { isMutation, type Route } from '../../src/http/route.js'
import { lineOf } from '../http/api.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'
import { screens } from './screens.js'

const MUTATIONS = (Object.entries(CONTRACT) as readonly [RouteName, Route][]).filter(([, it]) => isMutation(it))
/** Those that anybody may ask whom a callback's token was given to, session or not. */
const OF_CALLBACKS = /^\/callbacks\//
/** Where the right that is asked for stands in the body. */
const BODIES: { readonly [N in RouteName]?: (id: string) => object } = {
  actOnJobs: (id) => ({ action: 'retry', ids: [id] }),
  bulkJobs: () => ({ action: 'retry', selector: { all: true } }),
}
const EVERYTHING = `select
  (select count(*) from spillway.dlq_entries), (select count(*) from spillway.ready_entries),
  (select count(*) from spillway.audit_log), (select count(*) from spillway.operations),
  (select count(*) from spillway.idempotency_keys), (select count(*) from spillway.api_tokens)`

describeConsole('a viewer', ({ serve, open, given, client, db }) => {
  const start = async (role: 'viewer' | 'admin') => {
    await incident(given, client)
    const { url } = await serve({ access: { tokens: true } })
    const { secret } = await client.tokens.create({ name: 'ann', role })
    const page = await open(url)
    await page.getByLabel(/^Token/).fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    return { page, url }
  }
  const rows = () => db.run({ name: 'everything', text: EVERYTHING }, [])

  /** The names of the buttons of a screen, with all rows of its first list chosen where that can be done. */
  const buttonsOf = async (role: 'viewer' | 'admin') => {
    const { page, url } = await start(role)
    const sent: string[] = []
    page.on('request', (it) => it.method() !== 'GET' && sent.push(`${it.method()} ${new URL(it.url()).pathname}`))
    const found: Record<string, string[]> = {}
    for (const [name, path] of Object.entries(await screens({ given, client }))) {
      await page.goto(`${url}${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('[role="status"][aria-label^="Loading"]').first().waitFor({ state: 'detached' })
      const all = page.getByRole('checkbox', { name: 'Select all rows of this page' })
      if ((await all.count()) > 0) await all.first().check()
      found[name] = await page
        .getByRole('button')
        .evaluateAll((them) =>
          them.map(
            (it) =>
              (it as unknown as { ariaLabel: string | null; textContent: string }).ariaLabel ??
              (it as unknown as { textContent: string }).textContent,
          ),
        )
    }
    return { found, sent }
  }
  const CHANGES =
    /retry|discard|purge|delete|move|mute|resolve|acknowledge|note|edit|cancel|kill|promote|reschedule|clone|pause|resume|undo|release|create|revoke|add|remove|restore|prune|rate|set |tune/i

  it('finds no button on any screen that would change something, where an admin finds them', async () => {
    const viewer = await buttonsOf('viewer')
    const changing = Object.entries(viewer.found).flatMap(([name, buttons]) =>
      buttons.filter((it) => CHANGES.test(it) && !it.startsWith('Remove the filter')).map((it) => `${name}: ${it}`),
    )

    expect(changing).toEqual([])
    // Which payloads would decode is asked with a POST, and changes nothing.
    expect(viewer.sent.filter((it) => !it.endsWith('/undecodable/check'))).toEqual([])
  })

  it('would find them as an admin, so that the others are missed for a reason', async () => {
    const admin = await buttonsOf('admin')

    expect(admin.found['Dead letters']?.join()).toMatch(/Retry/)
  })

  it('changes nothing by the keys of those buttons either', async () => {
    const { page, url } = await start('viewer')
    const sent: string[] = []
    page.on('request', (it) => it.method() !== 'GET' && sent.push(it.url()))

    await page.goto(`${url}/dlq`)
    await page.getByRole('table', { name: 'Dead letters' }).waitFor()
    for (const key of ['j', 'x', 'r', 'd', 'e', 'p', 'm']) await page.keyboard.press(key)
    await page.getByText('1 dead letter selected').waitFor()

    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(sent).toEqual([])
  })

  it.each(MUTATIONS.filter(([, { path }]) => !OF_CALLBACKS.test(path)))(
    'changes nothing with its cookie by hand: %s',
    async (name) => {
      const { id } = await given.job({ state: 'archived', queue: 'q' })
      const { url } = await serve({ access: { tokens: true } })
      const { secret } = await client.tokens.create({ name: 'ann', role: 'viewer' })
      const ask = (line: string, body: unknown, cookie = '') => {
        const [method, path] = line.split(' ') as [string, string]
        return fetch(`${url}/api/v1${path}`, {
          method,
          headers: {
            ...{ cookie, origin: url, 'content-type': 'application/json' },
            ...{ 'x-spillway-csrf': '1', 'idempotency-key': 'k' },
          },
          body: JSON.stringify(body),
        })
      }
      const signedIn = await ask('POST /session', { token: secret })
      const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
      const before = await rows()

      const answer = await ask(lineOf(name, id), BODIES[name]?.(id) ?? {}, cookie)

      expect(signedIn.status).toBe(200)
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([403, 'forbidden'])
      expect(await rows()).toEqual(before)
    },
  )
})
