import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { until } from '../support/patience.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'

const POLL_MS = 5_000
const FINGERPRINT = 'ab'.repeat(16)

describeConsole('an open page', ({ serve, open, given, client, complaints }) => {
  const start = async (path: string, prepare: (page: Page) => Promise<unknown> = async () => undefined) => {
    await incident(given, client)
    const { url } = await serve()
    const page = await open('about:blank')
    await prepare(page)
    await page.goto(`${url}${path}`)
    return page
  }
  const updates = (page: Page, word: string) => page.getByRole('status', { name: `Updates: ${word}` }).waitFor()
  const deaths = (page: Page, count: number) => page.getByText(`${count} in 2 queues`).waitFor()
  /** One more death of `send_receipt`, in the same transaction as its event. */
  const dies = async () => {
    const { id } = await client.enqueue('send_receipt', { to: 'a@example.com' }, { queue: 'email' })
    await client.jobs.kill(id, { reason: 'obsolete' })
    return id
  }

  it('shows a death as it happens, without a reload', async () => {
    const page = await start('/dlq?queue=email')
    await updates(page, 'Live')
    await page.getByText(/^9 on page 1/).waitFor()
    await page.evaluate('window.stillTheSame = true')

    const id = await dies()
    await deaths(page, 50)
    // Rows do not move under the pointer of whoever reads them.
    await page.getByRole('button', { name: 'Show them as they are now' }).click()
    await page.getByRole('link', { name: id, exact: true }).waitFor()

    await page.getByText(/^10 on page 1/).waitFor()
    expect(await page.evaluate('window.stillTheSame')).toBe(true)
  })

  it('asks every few seconds where the stream does not come through, and still shows what happens', async () => {
    const cut = '**/api/v1/events*'
    const page = await start('/dlq?queue=email', async (it) => {
      await it.clock.install()
      // What a proxy answers that knows no streams: the browser does not try again by itself.
      await it.route(cut, (route) => route.fulfill({ status: 502, body: 'Bad gateway' }))
    })
    await updates(page, 'Every 5 s')

    await dies()
    await page.clock.runFor(POLL_MS)
    await deaths(page, 50)

    // Nor does it ask while nobody looks, however long that is.
    await hide(page, true)
    await updates(page, 'Paused')
    const asked = requestsOf(page)
    await page.clock.runFor(10 * POLL_MS)
    expect(asked()).toEqual([])
    await hide(page, false)
    await updates(page, 'Every 5 s')
    await page.unroute(cut)
    await page.clock.runFor(POLL_MS)
    await updates(page, 'Live')

    complaints()
  })

  it('says that it is offline where it is, keeps what it shows, and comes back by itself', async () => {
    const page = await start('/dlq?queue=email')
    await updates(page, 'Live')
    const row = page.getByRole('row', { name: /recipient address rejected/ }).first()
    await row.waitFor()

    await page.context().setOffline(true)
    await updates(page, 'Offline')
    expect(await row.isVisible()).toBe(true)
    await dies()
    await page.context().setOffline(false)
    await deaths(page, 50)

    await updates(page, 'Live')
    complaints()
  })

  it('asks for nothing while nobody looks, and for what it missed as soon as somebody does', async () => {
    const page = await start('/dlq?queue=email')
    await updates(page, 'Live')
    await page.getByText(/^9 on page 1/).waitFor()
    const other = await open(page.url())
    await updates(other, 'Live')

    await hide(page, true)
    await updates(page, 'Paused')
    const asked = requestsOf(page)
    await dies()
    await deaths(other, 50)
    // By the time the next one is seen elsewhere, whoever was told of the first has asked.
    await dies()
    await deaths(other, 51)
    expect(asked()).toEqual([])
    await hide(page, false)
    await deaths(page, 51)

    await until(() => asked().some((it) => it.includes('/api/v1/events')))
    await updates(page, 'Live')
  })

  it('shows what another window does to queues and to what is held', async () => {
    await given.job({ state: 'quarantined', queue: 'billing', fingerprint: FINGERPRINT })
    const held = await start('/held')
    const queue = await open(new URL('/queues/billing', held.url()).href)
    await held.getByRole('table', { name: 'Quarantined fingerprints' }).waitFor()
    await queue.getByRole('button', { name: 'Pause …' }).waitFor()
    for (const page of [held, queue]) await updates(page, 'Live')

    await client.quarantine.release(FINGERPRINT)
    await held.getByText('Nothing is quarantined').waitFor()
    await client.queues.pause('billing', { reason: 'the bank is closed' })

    await queue.getByText(/Paused .*: the bank is closed/).waitFor()
  })
})

/** What the page asks for from now on. */
function requestsOf(page: Page): () => readonly string[] {
  const asked: string[] = []
  page.on('request', (it) => asked.push(it.url()))
  return () => asked
}

/** As a browser does with a page in another tab. */
async function hide(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} })
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${isHidden ? 'hidden' : 'visible'}' })
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
}
