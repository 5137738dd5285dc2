import { expect, it } from 'vitest'
import { until } from '../support/patience.js'
import { describeConsole } from './browser.js'

const dead = { state: 'archived', queue: 'email', kind: 'send_receipt', cause: 'smtp-refused' } as const
const HOUR_MS = 3_600_000

describeConsole('long lists', ({ serve, open, given, client, db, store }) => {
  const start = async (count: number, path = '/dlq?queue=email') => {
    const ids = await given.jobs(count, { ...dead, dlqAt: new Date(Date.now() - HOUR_MS) })
    const { url } = await serve()
    const page = await open(`${url}${path}`)
    await page.getByText(/on page 1/).waitFor()
    // What comes above the rows moves what is below them.
    await page.getByRole('table', { name: 'Causes' }).waitFor()
    const next = async (number: number) => {
      await page.getByRole('button', { name: 'Next', exact: true }).click()
      await page.getByText(new RegExp(`on page ${number}`)).waitFor()
      await page.locator('[aria-busy="true"]').waitFor({ state: 'detached' })
    }
    return { page, next, ids, url }
  }

  it('act on the rows that were chosen on any page, whatever came in above them meanwhile', async () => {
    const { page, next, ids } = await start(250)
    const choose = async () => {
      const box = page.getByRole('checkbox', { name: /^Select dead letter/ }).nth(3)
      await box.check()
      return /\d+/.exec((await box.getAttribute('aria-label')) ?? '')?.[0] as string
    }

    const chosen = [await choose()]
    await next(2)
    await next(3)
    await given.jobs(5, dead)
    chosen.push(await choose())
    await page.getByText('2 dead letters selected').waitFor()
    await page.getByRole('button', { name: 'Retry …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Exactly 2 rows as of now').waitFor()
    await given.jobs(5, dead)
    await dialog.getByRole('button', { name: 'Retry', exact: true }).click()
    await dialog.getByText('It is over: 2 done, 0 skipped, 0 refused.').waitFor()

    const left = await Promise.all(ids.map(async (id) => ({ id, state: (await client.jobs.get(id))?.state })))
    const retried = left.filter(({ state }) => state !== 'archived')
    expect(retried.map(({ id }) => id).sort()).toEqual([...chosen].sort())
    expect(await client.dlq.count({ queue: 'email' })).toBe(258)
  })

  it('keep the row that was chosen where newer ones push it down, and act on that one', async () => {
    const { page, ids } = await start(30)
    const box = page.getByRole('checkbox', { name: /^Select dead letter/ }).nth(3)
    const chosen = /\d+/.exec((await box.getAttribute('aria-label')) ?? '')?.[0] as string

    await box.check()
    for (const id of await given.jobs(3, { queue: 'email', kind: 'send_receipt' })) await client.jobs.kill(id)
    await page.getByRole('button', { name: 'Show them as they are now' }).click()
    await page.getByText('33 on page 1').waitFor()
    expect(await page.getByRole('checkbox', { name: `Select dead letter ${chosen}` }).isChecked()).toBe(true)
    await page.getByText('1 dead letter selected').waitFor()
    await page.getByRole('button', { name: 'Discard …' }).click()
    await page.getByRole('dialog').getByText('Exactly 1 row as of now').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard', exact: true }).click()
    await page.getByRole('dialog').getByText('It is over: 1 done, 0 skipped, 0 refused.').waitFor()

    const states = await Promise.all(ids.map(async (id) => [id, (await client.jobs.get(id))?.state]))
    expect(states.filter(([, state]) => state !== 'archived')).toEqual([[chosen, 'discarded']])
  })

  it('are as long as they will be before anybody scrolls, so that nothing moves under a pointer', async () => {
    const { page } = await start(100)
    const long = () => page.evaluate<number>('document.documentElement.scrollHeight')
    const before = await long()

    await page.getByRole('button', { name: /^Export all/ }).scrollIntoViewIfNeeded()
    await page.locator('[aria-label="Dead letters"] tr[data-index="99"]').waitFor()

    expect(Math.abs((await long()) - before)).toBeLessThan(20)
  })

  it('go one page on for two clicks, when the page comes late', async () => {
    const { page } = await start(120)
    let letGo: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await page.route(/\/api\/v1\/dlq\?.*cursor=/, async (route) => {
      await held
      await route.continue()
    })

    await page.getByRole('button', { name: 'Next', exact: true }).click()
    await page.getByText(/on page 2/).waitFor()
    await page.getByRole('button', { name: 'Next', exact: true }).click()
    letGo()
    await page.getByText('20 on page 2 · 120 in all').waitFor()

    await page.getByRole('button', { name: 'Previous', exact: true }).click()
    await page.getByText('100 on page 1 · 120 in all').waitFor()
  })

  it('show the page before, when all rows of the last one are gone', async () => {
    const { page, next } = await start(105)
    await next(2)
    await page.getByText(/^5 on page 2/).waitFor()

    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
    await page.getByRole('button', { name: 'Discard …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Discard dead letters' })
    await dialog.getByText('Exactly 5 rows as of now').waitFor()
    await dialog.getByRole('button', { name: 'Discard', exact: true }).click()
    await dialog.getByText('It is over: 5 done').waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
    await page.getByText('100 on page 1 · 100 in all').waitFor()

    expect(await page.getByRole('table', { name: 'Dead letters' }).isVisible()).toBe(true)
    expect(await page.getByText(/No dead letter/).count()).toBe(0)
  })

  it('keep filter and page in the address, after a row was acted on, a reload and the way back', async () => {
    const { page, next } = await start(150, '/dlq?queue=email&kind=send_receipt')
    await next(2)
    const address = page.url()
    expect(new URL(address).searchParams.get('cursor')).not.toBeNull()

    await page
      .getByRole('checkbox', { name: /^Select dead letter/ })
      .first()
      .check()
    await page.getByRole('button', { name: 'Retry …' }).click()
    await page.getByRole('dialog').getByText('Exactly 1 row as of now').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Retry', exact: true }).click()
    await page.getByRole('dialog').getByText('It is over: 1 done').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click()
    await page.getByText('49 on page 2 · 149 in all').waitFor()
    expect(page.url()).toBe(address)
    await page.reload()
    await page.getByText('49 on page 2 · 149 in all').waitFor()
    await page.getByRole('table', { name: 'Dead letters' }).getByRole('link', { name: /^\d+$/ }).first().click()
    await page.waitForURL(/\/dlq\/\d+$/)
    await page.goBack()
    await page.getByText('49 on page 2 · 149 in all').waitFor()

    expect(page.url()).toBe(address)
    await page.getByRole('button', { name: 'Previous', exact: true }).click()
    await page.getByText('100 on page 1 · 149 in all').waitFor()
  })

  it('discard many only after they said how many and which, and give them back', async () => {
    const { page } = await start(120)

    await page
      .getByRole('checkbox', { name: /^Select dead letter/ })
      .first()
      .check()
    await page.getByRole('button', { name: 'Select all 120' }).click()
    await page.getByRole('button', { name: 'Discard …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Discard dead letters' })
    await dialog
      .getByText(/queue email/)
      .first()
      .waitFor()
    await dialog.getByText('Exactly 120 rows as of now').waitFor()
    expect(await client.dlq.count({})).toBe(120)
    await dialog.getByRole('button', { name: 'Discard', exact: true }).click()
    await dialog.getByText('It is over: 120 done, 0 skipped, 0 refused.').waitFor()
    expect(await client.dlq.count({})).toBe(0)
    await dialog.getByRole('link', { name: /^Operation \d+/ }).click()
    await page.getByRole('button', { name: /^Undo/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: /^Undo/ }).click()

    await until(async () => (await client.dlq.count({})) === 120)
  })

  it('keep large numbers to the last digit: in ids, on the page, and in an edit of something else', async () => {
    const big = '9007199254740993'
    await given.job({ ...dead, id: big, payloadText: `{"id": ${big}, "price": 1.5, "to": "a"}` })
    const { url } = await serve()
    const page = await open(`${url}/dlq`)

    await page.getByRole('link', { name: big, exact: true }).click()
    await page.waitForURL(new RegExp(`/dlq/${big}$`))
    await page.getByRole('button', { name: 'Show the payload' }).click()
    await page.getByRole('region', { name: 'Payload', exact: true }).first().getByText(big).first().waitFor()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const editor = page.getByRole('textbox', { name: 'Payload as JSON' })
    const before = String(await editor.textContent())
    await editor.fill(before.replace('"a"', '"b"'))
    await page.getByRole('button', { name: 'Review the change …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    await until(async () => (await payloadOf(big)).includes('"b"'))

    expect((await payloadOf(big)).replace(/\s/g, '')).toBe(`{"id":${big},"price":1.5,"to":"b"}`)
    expect((await store.getJob(big))?.id).toBe(big)
  })

  const payloadOf = async (id: string): Promise<string> => {
    const rows = await db.run<[string], readonly [string]>(
      { name: 'payload', text: 'select payload::text from spillway.dlq_entries where id = $1' },
      [id],
    )
    return rows[0]?.[0] ?? ''
  }
})
