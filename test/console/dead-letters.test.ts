import { expect, it } from 'vitest'
import { until } from '../support/patience.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'

describeConsole('dead letters', ({ serve, open, given, client, store, complaints }) => {
  const start = async (path = '/dlq', options = {}) => {
    await incident(given, client)
    const { url } = await serve(options)
    const page = await open(`${url}${path}`)
    await page.getByRole('table', { name: 'Dead letters' }).waitFor()
    return page
  }

  it('stand by their cause first, and a cause leads to its rows', async () => {
    const page = await start()

    const causes = page.getByRole('table', { name: 'Causes of death' })
    await causes.getByRole('link', { name: /recipient address rejected/ }).click()
    await page.waitForURL(/cause=smtp-refused/)

    await page.getByText('at most', { exact: false }).waitFor({ state: 'detached' })
    await page.getByText('7 on page 1 · 7 in all').waitFor()
    expect(
      await page
        .getByRole('table', { name: 'Dead letters' })
        .getByRole('row', { name: /recipient/ })
        .count(),
    ).toBe(7)
  })

  it('keep their filter in the address, through a reload and the way back', async () => {
    const page = await start()

    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Error has' }).click()
    await page.getByRole('textbox', { name: 'Error has' }).fill('550 5.1.1 <nobody')
    await page.keyboard.press('Enter')
    await page.getByText(/^7 on page 1/).waitFor()
    await page.reload()
    await page.getByText(/^7 on page 1/).waitFor()
    expect(new URL(page.url()).searchParams.get('error')).toBe('550 5.1.1 <nobody')

    await page.getByRole('button', { name: /Remove the filter Error has/ }).click()
    await page.getByText(/^49 on page 1/).waitFor()
    await page.goBack()
    await page.getByText(/^7 on page 1/).waitFor()
  })

  it('are selected by row, by page and as a whole, with their number said', async () => {
    const page = await start()
    const bar = page.getByRole('region', { name: 'Selection' })

    await page
      .getByRole('checkbox', { name: /^Select dead letter/ })
      .first()
      .check()
    await bar.getByText('1 dead letter selected').waitFor()
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
    await bar.getByText('49 dead letters selected').waitFor()
    await bar.getByRole('button', { name: 'Clear selection' }).click()
    await bar.waitFor({ state: 'detached' })
    await page
      .getByRole('checkbox', { name: /^Select dead letter/ })
      .first()
      .check()
    await bar.getByRole('button', { name: 'Select all 49' }).click()

    await bar.getByText('All 49 dead letters that match no filter: everything').waitFor()
    // Everything that matches another filter was never chosen.
    await page
      .getByRole('table', { name: 'Causes of death' })
      .getByRole('link', { name: /recipient address rejected/ })
      .click()
    await page.getByText(/^7 on page 1/).waitFor()
    expect(await bar.count()).toBe(0)
  })

  it('that are narrowed by the text of their error alone are no others where all are chosen', async () => {
    const page = await start('/dlq?error=recipient')
    await page.getByText(/^7 on page 1/).waitFor()

    await page
      .getByRole('checkbox', { name: /^Select dead letter/ })
      .first()
      .check()
    await page.getByRole('button', { name: /^Select all/ }).click()
    await page.getByRole('button', { name: 'Discard …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Discard dead letters' })
    await dialog.getByText('Exactly 7 rows as of now').waitFor()
    await dialog.getByRole('button', { name: 'Discard', exact: true }).click()
    await dialog.getByText('It is over: 7 done, 0 skipped, 0 refused.').waitFor()

    expect(await client.dlq.count({})).toBe(42)
  })

  it('are gone through by keyboard alone', async () => {
    const page = await start()
    const focused = () => page.evaluate('document.activeElement?.getAttribute("data-index")')

    await page.keyboard.press('j')
    await until(async () => (await focused()) === '0')
    await page.keyboard.press('j')
    await until(async () => (await focused()) === '1')
    await page.keyboard.press('x')
    await page.getByText('1 dead letter selected').waitFor()
    await page.keyboard.press('k')
    await until(async () => (await focused()) === '0')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/dlq\/\d+$/)
    await page.keyboard.press('g')
    await page.keyboard.press('d')
    await page.waitForURL(/\/dlq$/)
    await page.keyboard.press('/')
    await page.keyboard.type('gateway')
    await page.keyboard.press('Enter')

    await page.waitForURL(/\/dlq\?error=gateway$/)
    await page.getByText(/^40 on page 1/).waitFor()
  })

  it('go back to work exactly as the preview has shown them, and no others', async () => {
    const page = await start('/dlq?queue=billing')

    await page
      .getByRole('checkbox', { name: /^Select dead letter/ })
      .first()
      .check()
    await page.getByRole('button', { name: 'Select all 40' }).click()
    await page.getByRole('button', { name: 'Retry …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Retry dead letters' })
    await dialog.getByText('Exactly 40 rows as of now').waitFor()
    await given.jobs(5, { state: 'archived', queue: 'billing', kind: 'charge_card', cause: 'gateway-timeout' })
    await dialog.getByRole('button', { name: 'Retry', exact: true }).click()
    await dialog.getByText('sends 40 dead letters back to work').waitFor()
    await dialog.getByText('It is over: 40 done, 0 skipped, 0 refused.').waitFor()

    const { items } = await client.operations.list({})
    const done = items.find((it) => !it.dryRun)
    expect(done).toMatchObject({ action: 'retry', matched: 40, createdBy: 'anonymous' })
  })

  it('stay as they are where the server refuses, and the page says why', async () => {
    const page = await start('/dlq?queue=billing')

    await page
      .getByRole('checkbox', { name: /^Select dead letter/ })
      .first()
      .check()
    await page.getByRole('button', { name: 'Retry …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Exactly 1 row as of now').waitFor()
    await page.route('**/api/v1/dlq/bulk-retry', (route) => route.abort())
    await dialog.getByRole('button', { name: 'Retry', exact: true }).click()
    await dialog.getByText('No answer came').waitFor()
    await page.unroute('**/api/v1/dlq/bulk-retry')
    await dialog.getByRole('button', { name: 'Send again' }).click()
    await dialog.getByText('sends 1 dead letter back to work').waitFor()

    expect(complaints().join()).toMatch(/Failed to load resource/)
    expect(await client.dlq.count({ queue: 'billing' })).toBeGreaterThan(0)
    expect((await store.listOperations({ limit: 10 })).items.filter((it) => !it.dryRun)).toHaveLength(1)
  })
})
