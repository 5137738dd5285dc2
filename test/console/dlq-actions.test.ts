import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { until } from '../support/patience.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'

const DEAD = { state: 'archived', queue: 'billing', kind: 'charge_card', cause: 'gateway-timeout' } as const
const RUN_AT = '2040-01-31T12:00'
const DEADLINE = '2040-02-01T12:00'
/** Fields of a retry by their labels, and what is typed there. */
const TERMS = {
  ...{ 'Rows a second': '50', Canaries: '2', 'Most waiting': '100', Queue: 'email-slow', Priority: '3' },
  ...{ 'Most attempts': '9', 'Run at': RUN_AT, Deadline: DEADLINE, Reason: 'the server is back' },
}

describeConsole('what is done with dead letters', ({ serve, open, given, client, complaints }) => {
  const start = async (path: string, options = {}) => {
    await incident(given, client)
    const { url } = await serve(options)
    const page = await open(`${url}${path}`)
    await page.getByRole('table', { name: 'Dead letters' }).waitFor()
    return { page, url }
  }

  it('is a discard into the bin, whose filter and page stay in the address', async () => {
    const { page } = await start('/dlq?queue=email')
    const address = page.url()

    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
    await page.getByRole('button', { name: 'Discard …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Discard dead letters' })
    await dialog.getByText('9 selected dead letters').waitFor()
    await dialog.getByText('for 7 days').waitFor()
    await dialog.getByLabel('Rows a second').fill('500')
    await dialog.getByLabel('Reason').fill('no such users')
    await dialog.getByRole('button', { name: 'Discard', exact: true }).click()
    await dialog.getByText('It is over: 9 done, 0 skipped, 0 refused.').waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()

    await page.getByText('No dead letter matches').waitFor()
    expect(page.url()).toBe(address)
    expect(await client.dlq.count({ queue: 'billing' })).toBe(40)
    const [done] = (await client.operations.list({})).items.filter((it) => !it.dryRun)
    expect(done).toMatchObject({ action: 'discard', rate: 500, reason: 'no such users' })
  })

  it('is a retry on the terms that were filled in, all of them and no others', async () => {
    const { page } = await start('/dlq?queue=email')
    const sent: Record<string, unknown>[] = []
    page.on('request', (it) => it.url().endsWith('/dlq/bulk-retry') && sent.push(it.postDataJSON()))
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
    await page.getByRole('button', { name: 'Retry …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Retry dead letters' })
    await dialog.getByText('Exactly 9 rows as of now').waitFor()

    for (const part of ['Pace', 'Changes to each job', 'Conflicts and limits'])
      await dialog.getByText(part, { exact: true }).click()
    for (const [field, text] of Object.entries(TERMS)) await dialog.getByLabel(field, { exact: true }).fill(text)
    await dialog.getByText('Some more').click()
    await dialog.getByLabel('So many more').fill('2')
    await dialog.getByLabel('Where another job has its unique key').selectOption('skip')
    await dialog.getByLabel('Also what came back too often for its queue (force)').check()
    await dialog.getByRole('button', { name: 'Retry', exact: true }).click()
    await dialog.getByText('sends 9 dead letters back to work').waitFor()

    const what = {
      ...{ budget: { extra: 2 }, on_conflict: 'skip', force: true },
      overrides: {
        ...{ queue: 'email-slow', priority: 3, max_attempts: 9 },
        ...{ run_at: new Date(RUN_AT).toISOString(), deadline: new Date(DEADLINE).toISOString() },
      },
    }
    const pace = { rate: 50, canary: 2, max_waiting: 100, reason: 'the server is back' }
    expect(sent.at(-2)).toEqual({ ...what, ids: expect.any(Array), dry_run: true })
    expect(sent.at(-1)).toEqual({ ...what, ...pace, preview: expect.any(String) })
  })

  it('is a purge only after its number was typed', async () => {
    const { page } = await start('/dlq?queue=email&cause=smtp-refused')

    await page.getByRole('region', { name: 'Cause', exact: true }).getByRole('button', { name: 'Purge …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Purge dead letters' })
    await dialog.getByText('Exactly 7 rows as of now').waitFor()
    const button = dialog.getByRole('button', { name: 'Purge', exact: true })
    expect(await button.isDisabled()).toBe(true)
    await dialog.getByRole('textbox', { name: /^Type/ }).fill('purge 6')
    expect(await button.isDisabled()).toBe(true)
    await dialog.getByRole('textbox', { name: /^Type/ }).fill('purge 7')
    await button.click()
    await dialog.getByText('It is over: 7 done, 0 skipped, 0 refused.').waitFor()

    expect(await client.dlq.count({ queue: 'email' })).toBe(2)
  })

  it('is an export, whole lines, one for each', async () => {
    const { page } = await start('/dlq?queue=email')

    await page.getByRole('button', { name: 'Export all that match …' }).click()
    const saved = page.waitForEvent('download')
    await page.getByRole('dialog').getByRole('button', { name: 'Download' }).click()
    const file = await (await saved).path()
    await page
      .getByRole('dialog')
      .getByText(/bytes are downloaded/)
      .waitFor()

    const lines = readFileSync(file, 'utf8').trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { queue: string }).queue)).toEqual(Array(9).fill('email'))
  })

  it('leaves nobody on an empty page: after its last rows the page before is shown', async () => {
    await given.jobs(60, DEAD)
    const { page } = await start('/dlq?queue=billing')
    await given.jobs(1, { ...DEAD, dlqAt: new Date(Date.now() - 86_400_000) })
    await page.reload()
    await page.getByText('100 on page 1').waitFor()

    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('1 on page 2').waitFor()
    await page.getByRole('checkbox', { name: /^Select dead letter/ }).check()
    await page.getByRole('button', { name: 'Discard …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Discard dead letters' })
    await dialog.getByText('Exactly 1 row as of now').waitFor()
    await dialog.getByRole('button', { name: 'Discard', exact: true }).click()
    await dialog.getByText('It is over: 1 done').waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()

    await page.getByText('100 on page 1').waitFor()
    expect(new URL(page.url()).searchParams.get('queue')).toBe('billing')
  })

  it('does not move rows under whoever reads them: newer ones are announced, and shown when asked for', async () => {
    const { page } = await start('/dlq?queue=billing')
    const rows = page.getByRole('table', { name: 'Dead letters' }).getByRole('row')
    const before = await rows.nth(1).textContent()

    for (const id of await given.jobs(3, { state: 'available', queue: 'billing', kind: 'charge_card' }))
      await client.jobs.kill(id)
    await page.getByText('There are newer dead letters.').waitFor()
    expect(await rows.nth(1).textContent()).toBe(before)
    await page.getByRole('button', { name: 'Show them as they are now' }).click()

    await page.getByText('43 on page 1').waitFor()
    await page.getByText('There are newer dead letters.').waitFor({ state: 'detached' })
  })

  it('keeps everything as it is where the server breaks, and says so', async () => {
    const { page } = await start('/dlq?queue=email')
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
    await page.getByRole('button', { name: 'Discard …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Discard dead letters' })
    await dialog.getByText('Exactly 9 rows as of now').waitFor()

    await page.route('**/api/v1/dlq/bulk-discard', (route) => route.fulfill({ status: 500, body: 'oops' }))
    await dialog.getByLabel('Reason').fill('duplicates')
    await dialog.getByRole('button', { name: 'Discard', exact: true }).click()
    await dialog.getByText('http_500').waitFor()

    expect(await dialog.getByLabel('Reason').inputValue()).toBe('duplicates')
    await until(async () => (await client.dlq.count({ queue: 'email' })) === 9)
    expect(complaints().join()).toMatch(/500/)
  })

  it('is nothing for a reader', async () => {
    const { page } = await start('/dlq?queue=email&cause=smtp-refused', { readOnly: true })

    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()

    expect(await page.getByRole('button', { name: /(Retry|Discard|Purge) …|Triage/ }).count()).toBe(0)
  })
})
