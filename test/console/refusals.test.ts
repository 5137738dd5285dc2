import type { Page, Request, Route } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'

/** Ways in which a change does not succeed, and what the page says then. */
const FAILURES: Readonly<Record<string, { readonly fail: (route: Route) => Promise<void>; readonly says: RegExp }>> = {
  '400': { fail: (route) => refuse(route, 400), says: /refused with 400/ },
  '409': { fail: (route) => refuse(route, 409), says: /refused with 409/ },
  '500': { fail: (route) => refuse(route, 500), says: /refused with 500/ },
  'a proxy': {
    fail: (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }),
    says: /answered 502/,
  },
  'no answer': { fail: (route) => route.abort('timedout'), says: /No answer came/ },
  'a time-out': { fail: (route) => route.request().frame().page().evaluate('tooLate()'), says: /No answer came/ },
}

/** Before the page's own scripts: a change has waited for long enough when the test says so, and not before. */
const TIME_OUTS = `AbortSignal.timeout = () => {
  const limit = new AbortController()
  window.tooLate = () => limit.abort(new DOMException('too late', 'TimeoutError'))
  return limit.signal
}`

function refuse(route: Route, status: number): Promise<void> {
  const problem = {
    type: 'urn:spillway:error:x',
    title: 'Refused',
    status,
    code: 'x',
    detail: `refused with ${status}`,
  }
  return route.fulfill({ status, contentType: 'application/problem+json', json: problem })
}

/** What can be asked for: where, by which button, and what the dialog needs before its own button works. */
const ACTIONS: Readonly<
  Record<string, { readonly button: string; readonly verb: string; readonly ready?: (dialog: Dialog) => Promise<void> }>
> = {
  'a retry': { button: 'Retry …', verb: 'Retry' },
  'a discard': { button: 'Discard …', verb: 'Discard' },
  'a purge': {
    button: 'Purge …',
    verb: 'Purge',
    ready: (dialog) => dialog.getByLabel(/^Type/).fill('purge 1'),
  },
}
type Dialog = ReturnType<Page['getByRole']>

describeConsole('where the server does not do it', ({ serve, open, given, client, complaints }) => {
  const isChange = (request: Request) => request.method() !== 'GET' && !(request.postData() ?? '').includes('"dry_run"')

  it.each(Object.entries(ACTIONS))(
    '%s is never said to be done, and the page stays',
    async (_, { button, verb, ready }) => {
      await incident(given, client)
      const id = (await client.dlq.list({ queue: 'email' })).items[0]?.id as string
      const { url } = await serve()
      const page = await open('about:blank')
      await page.addInitScript(TIME_OUTS)
      await page.goto(`${url}/dlq/${id}`)
      await page.getByRole('button', { name: button, exact: true }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('Exactly 1 row as of now').waitFor()
      await ready?.(dialog)
      await dialog.getByLabel('Reason').fill('kept as I typed it')
      const keys: (string | undefined)[] = []
      page.on('request', (it) => isChange(it) && keys.push(it.headers()['idempotency-key']))

      for (const { fail, says } of Object.values(FAILURES)) {
        await page.route('**/api/v1/**', (route) => (isChange(route.request()) ? fail(route) : route.continue()))
        await dialog.getByRole('button', { name: new RegExp(`^(Send again|${verb})$`) }).click()
        await dialog.getByRole('alert').getByText(says).waitFor()
        await page.unroute('**/api/v1/**')

        expect(page.url()).toBe(`${url}/dlq/${id}`)
        expect(await dialog.getByText(/^Operation \d+/).count()).toBe(0)
        expect(await dialog.getByLabel('Reason').inputValue()).toBe('kept as I typed it')
        expect(await client.jobs.get(id)).toMatchObject({ state: 'archived' })
      }
      // And then it is done, from where it stood.
      await dialog.getByRole('button', { name: 'Send again' }).click()
      await dialog.getByText('It is over: 1 done, 0 skipped, 0 refused.').waitFor()

      expect((await client.jobs.get(id))?.state).not.toBe('archived')
      // Each press of the button is one request, and all of them are the same one.
      expect(keys).toEqual(Array(Object.keys(FAILURES).length + 1).fill(expect.stringMatching(/^console-/)))
      expect(new Set(keys).size).toBe(1)
      expect((await client.operations.list({})).items.filter((it) => !it.dryRun)).toHaveLength(1)
      complaints()
    },
  )

  it('is done once, where an answer got lost and it is sent again', async () => {
    await incident(given, client)
    const id = (await client.dlq.list({ queue: 'email' })).items[0]?.id as string
    const { url } = await serve()
    const page = await open(`${url}/dlq/${id}`)
    // The server does it, and nobody hears of it.
    let isLost = false
    await page.route('**/api/v1/dlq/bulk-retry', async (route) => {
      if (isLost || !isChange(route.request())) return route.continue()
      isLost = true
      await route.fetch()
      return route.abort('connectionreset')
    })

    await page.getByRole('button', { name: 'Retry …', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Exactly 1 row as of now').waitFor()
    await dialog.getByRole('button', { name: 'Retry', exact: true }).click()
    await dialog.getByRole('button', { name: 'Send again' }).click()
    await dialog.getByText('It is over: 1 done, 0 skipped, 0 refused.').waitFor()

    const begun = (await client.operations.list({})).items.filter((it) => !it.dryRun)
    expect(begun).toHaveLength(1)
    expect(await client.jobs.get(id)).toMatchObject({ state: 'available', generation: 2 })
    complaints()
  })

  it('is done once to a job, too: a clone whose answer got lost is no second clone', async () => {
    const job = await given.job({ state: 'completed', queue: 'billing', kind: 'charge_card' })
    const { url } = await serve()
    const page = await open(`${url}/jobs/${job.id}`)
    let isLost = false
    await page.route('**/api/v1/jobs/*/clone', async (route) => {
      if (isLost) return route.continue()
      isLost = true
      await route.fetch()
      return route.abort('connectionreset')
    })

    await page.getByRole('button', { name: 'Clone …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Clone', exact: true }).click()
    await dialog.getByRole('button', { name: 'Send again' }).click()
    await dialog.getByText(`a copy of job ${job.id}`).waitFor()

    expect((await client.jobs.list({ queue: 'billing' })).items).toHaveLength(2)
    complaints()
  })

  it('lists keep their rows, and say that they are old', async () => {
    await incident(given, client)
    const { url } = await serve()
    const page = await open(`${url}/dlq?queue=email`)
    const list = page.getByRole('table', { name: 'Dead letters' })
    const row = list.getByRole('row', { name: /recipient address rejected/ }).first()
    await row.waitFor()

    const { id } = await client.enqueue('send_receipt', {}, { queue: 'email' })
    await client.jobs.kill(id)
    await page.getByRole('button', { name: 'Show them as they are now' }).waitFor()
    await page.route('**/api/v1/dlq?*', (route) => refuse(route, 500))
    await page.getByRole('button', { name: 'Show them as they are now' }).click()
    await page.getByRole('alert').getByText('refused with 500').first().waitFor()
    expect(await row.isVisible()).toBe(true)
    await page.unroute('**/api/v1/dlq?*')
    await page.getByRole('button', { name: 'Try again' }).first().click()
    await page.getByRole('link', { name: id, exact: true }).waitFor()
    complaints()
  })
})
