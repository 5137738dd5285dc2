import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { CONTRACT, listen, type RouteName } from '../../src/http/index.js'
import { isMutation, type Route } from '../../src/http/route.js'
import { lineOf } from '../http/api.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'
import { namesOf } from './names-of.js'
import { screens } from './screens.js'

const MUTATIONS = (Object.entries(CONTRACT) as readonly [RouteName, Route][]).filter(([, it]) => isMutation(it))
/** Those that anybody may ask whom a callback's token was given to, session or not. */
const OF_CALLBACKS = /^\/callbacks\//
/** Of routes that ask for the right of an action in their body: the actions they take, and how. */
const OF_ACTIONS: { readonly [N in RouteName]?: { readonly takes: readonly string[]; body(id: string): object } } = {
  actOnJobs: {
    takes: ['retry', 'discard', 'move', 'cancel', 'kill', 'promote', 'release', 'purge'],
    body: (id) => ({ ids: [id] }),
  },
  bulkJobs: { takes: ['retry', 'discard', 'move', 'purge'], body: () => ({ selector: { all: true } }) },
}
type ByHand = readonly [what: string, name: RouteName, body: (id: string) => object]
const BY_HAND = MUTATIONS.filter(([, { path }]) => !OF_CALLBACKS.test(path)).flatMap(([name, { right }]): ByHand[] => {
  if (right !== 'by_action') return [[name, name, () => ({})]]
  // One that is missing above is asked for without an action, and not refused as forbidden.
  const { takes, body } = OF_ACTIONS[name] ?? { takes: [''], body: () => ({}) }
  return takes.map((action) => [`${name}, ${action}`, name, (id) => ({ action, ...body(id) })])
})
/** Every screen on which there is something to change after an incident. */
const WITH_CHANGES = [
  ...['Dead letters', 'Dead letters of a cause', 'Dead letter', 'Jobs', 'Job', 'Held', 'Quarantined', 'Operation'],
  ...['Queue', 'Settings'],
]
const EVERYTHING = `select
  (select count(*) from spillway.dlq_entries), (select count(*) from spillway.ready_entries),
  (select count(*) from spillway.audit_log), (select count(*) from spillway.operations),
  (select count(*) from spillway.idempotency_keys), (select count(*) from spillway.api_tokens)`

describeConsole('a viewer', ({ serve, open, given, client, db }) => {
  const signedIn = async (url: string, role: 'viewer' | 'admin') => {
    const { secret } = await client.tokens.create({ name: role, role })
    const page = await open(url)
    await page.getByLabel(/^Token/).fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    return page
  }
  const rows = () => db.run({ name: 'everything', text: EVERYTHING }, [])

  const CHANGES =
    /retry|discard|purge|delete|move|mute|resolve|acknowledge|note|edit|cancel|kill|promote|reschedule|clone|pause|resume|undo|release|create|revoke|add|remove|restore|prune|rate|set |tune|save|triage|this one|its cause|hide|show .* again|new .* …|send/i

  /** The buttons of a screen that change something, with all rows of its first list chosen where that can be done. */
  const changingOn = async (page: Page, address: string) => {
    await page.goto(address)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('[role="status"][aria-label^="Loading"]').first().waitFor({ state: 'detached' })
    const all = page.getByRole('checkbox', { name: 'Select all rows of this page' })
    if ((await all.count()) > 0) await all.first().check()
    const names = await namesOf(page.getByRole('button'))
    return names.filter((it) => CHANGES.test(it) && !it.startsWith('Remove the filter'))
  }

  it('finds no button on any screen that would change something, where an admin finds them', {
    timeout: 120_000,
  }, async () => {
    await incident(given, client)
    const { url } = await serve({ access: { tokens: true } })
    const [viewer, admin] = [await signedIn(url, 'viewer'), await signedIn(url, 'admin')]
    const sent: string[] = []
    viewer.on('request', (it) => it.method() !== 'GET' && sent.push(`${it.method()} ${new URL(it.url()).pathname}`))

    const found: Record<'viewer' | 'admin', string[]> = { viewer: [], admin: [] }
    for (const [name, path] of Object.entries(await screens({ given, client }))) {
      const [theirs, all] = await Promise.all([changingOn(viewer, `${url}${path}`), changingOn(admin, `${url}${path}`)])
      found.viewer.push(...theirs.map((it) => `${name}: ${it}`))
      if (all.length > 0) found.admin.push(name)
    }

    expect(found.viewer).toEqual([])
    // Looked for in the same way, they are there: so a viewer misses them for a reason.
    expect(found.admin).toEqual(WITH_CHANGES)
    // Which payloads would decode is asked with a POST, and changes nothing.
    expect(sent.filter((it) => !it.endsWith('/undecodable/check'))).toEqual([])
  })

  it('changes nothing by the keys of those buttons either', async () => {
    await incident(given, client)
    const { url } = await serve({ access: { tokens: true } })
    const page = await signedIn(url, 'viewer')
    const sent: string[] = []
    page.on('request', (it) => it.method() !== 'GET' && sent.push(it.url()))
    const press = async () => {
      for (const key of ['r', 'd', 'e', 'p', 'm']) await page.keyboard.press(key)
      // Opens after what the others have opened; so they have opened nothing.
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
      expect(await page.getByRole('dialog').count()).toBe(1)
    }

    await page.goto(`${url}/dlq`)
    await page.getByRole('table', { name: 'Dead letters' }).waitFor()
    for (const key of ['j', 'x']) await page.keyboard.press(key)
    await page.getByText('1 dead letter selected').waitFor()
    await press()
    const [dead] = (await client.dlq.list({ queue: 'billing' })).items
    await page.goto(`${url}/dlq/${dead?.id}`)
    await page.getByRole('region', { name: 'Summary' }).waitFor()
    await press()

    expect(sent).toEqual([])
  })

  describe('by hand', () => {
    let url: string
    beforeAll(async () => {
      const listening = await listen({ spillway: client, access: { tokens: true }, port: 0, stopAfterMs: 100 })
      url = listening.url
      return () => listening.stop()
    })

    it.each(BY_HAND)('changes nothing with its cookie: %s', async (_, name, body) => {
      const { id } = await given.job({ state: 'archived', queue: 'q' })
      const { secret } = await client.tokens.create({ name: 'ann', role: 'viewer' })
      const ask = (line: string, sent: unknown, cookie = '') => {
        const [method, path] = line.split(' ') as [string, string]
        return fetch(`${url}/api/v1${path}`, {
          method,
          headers: {
            ...{ cookie, origin: url, 'content-type': 'application/json' },
            ...{ 'x-spillway-csrf': '1', 'idempotency-key': 'k' },
          },
          body: JSON.stringify(sent),
        })
      }
      const signedIn = await ask('POST /session', { token: secret })
      const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
      const before = await rows()

      const answer = await ask(lineOf(name, id), body(id), cookie)

      expect(signedIn.status).toBe(200)
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([403, 'forbidden'])
      expect(await rows()).toEqual(before)
    })
  })
})
