import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { until } from '../support/patience.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'

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
    const page = await start('/dlq?queue=email', (it) => it.route('**/api/v1/events*', (route) => route.abort()))

    await updates(page, 'Every 5 s')
    await dies()
    await deaths(page, 50)
    await page.unroute('**/api/v1/events*')
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
    const hide = (isHidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} }); document.dispatchEvent(new Event('visibilitychange'))`,
      )
    const asked: string[] = []
    page.on('request', (it) => asked.push(it.url()))

    await hide(true)
    await updates(page, 'Paused')
    asked.length = 0
    await dies()
    // Somebody else sees it: it has been told of by then.
    await deaths(await open(page.url()), 50)
    expect(asked).toEqual([])
    await hide(false)
    await deaths(page, 50)

    await until(() => asked.some((it) => it.includes('/api/v1/events')))
    await updates(page, 'Live')
  })
})
