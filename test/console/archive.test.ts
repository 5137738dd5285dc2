import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { describeConsole } from './browser.js'

const DAY_MS = 86_400_000
const ACT = { actor: 'tests' }

describeConsole('the archive', ({ serve, open, given, store, clock, complaints }) => {
  /** Two dead letters that outlived their retention, one of each error. */
  const archived = async () => {
    await store.setQueue('billing', { coldArchive: true, retention: { dlq: DAY_MS, archive: 40 * DAY_MS } }, ACT)
    const at = { dlqAt: new Date(Date.now() - 3 * DAY_MS), retainFrom: new Date(Date.now() - 3 * DAY_MS) }
    const dead = { state: 'archived', queue: 'billing', kind: 'charge_card', ...at } as const
    const first = await given.job({ ...dead, errorMessage: 'the card was stolen', payload: { card: 'c_1' } })
    const second = await given.job({ ...dead, errorMessage: 'the bank is closed' })
    await store.retain(1_000)
    return { first, second }
  }

  it('is searched, and a dead letter is brought back without being run', async () => {
    const { first } = await archived()
    const { url } = await serve()
    const page = await open(`${url}/archive?error=stolen`)

    await page.getByText(/^1 on page 1/).waitFor()
    await page.getByRole('table', { name: 'Archived jobs' }).getByRole('link', { name: first.id }).click()
    await page.getByRole('dialog').getByText('it outlived its retention').waitFor()
    expect(new URL(page.url()).searchParams.get('job')).toBe(first.id)
    await page.getByRole('dialog').getByRole('button', { name: 'Restore …' }).click()
    const dialog = page.getByRole('dialog', { name: `Restore job ${first.id}` })
    await dialog.getByText('It is not run').waitFor()
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click()
    await dialog.getByText('is a dead letter again').waitFor()

    expect((await store.getJob(first.id))?.state).toBe('archived')
  })

  it('is taken home as it is filtered', async () => {
    const { second } = await archived()
    const { url } = await serve()
    const page = await open(`${url}/archive?error=closed`)

    const coming = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export what matches' }).click()
    const path = await (await coming).path()

    const lines = readFileSync(path, 'utf8').trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual([second.id])
  })

  it('is pruned by the month, after its name was typed, and not while anything in it is kept', async () => {
    await archived()
    const { url } = await serve()
    const kept = await open(`${url}/archive`)
    await kept.getByText('still kept').waitFor()
    await clock.advance('90d')
    const [month] = await store.coldMonths()
    const page = await open(`${url}/archive`)

    await page.getByRole('button', { name: `Prune ${month?.month}` }).click()
    const dialog = page.getByRole('dialog', { name: 'Prune the archive' })
    const button = dialog.getByRole('button', { name: `Prune ${month?.month}` })
    expect(await button.isDisabled()).toBe(true)
    await dialog.getByRole('textbox', { name: /Type/ }).fill(month?.month ?? '')
    await button.click()
    await dialog.getByText('is gone with 2 jobs').waitFor()

    expect(await store.coldMonths()).toEqual([])
    expect(complaints()).toEqual([])
  })
})
