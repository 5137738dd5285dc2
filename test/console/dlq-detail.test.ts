import { expect, it } from 'vitest'
import { aDeath } from './a-death.js'
import { describeConsole } from './browser.js'

describeConsole('one dead letter', ({ serve, open, given, client, complaints }) => {
  const start = async (options = {}) => {
    const [id, newer, older] = await aDeath(given)
    const { url } = await serve(options)
    const page = await open(`${url}/dlq/${id}`)
    await page.getByRole('region', { name: 'Summary' }).waitFor()
    return { page, id, newer, older, url }
  }

  it('shows every life with what happened in it, in its order', async () => {
    const { page, id } = await start()

    const history = page.getByRole('list', { name: `History of job ${id}` })
    await history.getByRole('heading', { name: 'First life' }).waitFor()
    const titles = await history.locator('.timeline-line .mark').allInnerTexts()

    expect(titles.map((it) => it.replace(/^\S\s*/, ''))).toEqual([
      'Failed: attempt 1, after 1 min',
      'Its worker crashed: attempt 2, after 1 min',
      'Given up by hand',
      'Sent back to work',
      'Operation undone',
      'Edited',
      'Failed: attempt 1, after 1 min',
    ])
    await history.getByRole('heading', { name: 'Life 2, after a retry' }).waitFor()
    await history.getByText('the gateway is back').waitFor()
    await history.getByText('1 min before').waitFor()
  })

  it('shows its error with the frames of the application set apart, and with its causes', async () => {
    const { page } = await start()

    const error = page.getByRole('region', { name: 'Error' })
    const stack = error.getByRole('region', { name: 'Stack', exact: true })
    await stack.waitFor()

    expect(await stack.locator('[data-frame="own"]').allInnerTexts()).toEqual([
      expect.stringContaining('charge-card.ts'),
    ])
    expect(await stack.locator('[data-frame="foreign"]').count()).toBe(2)
    await error.getByText('other side closed').waitFor()
  })

  it('shows its payload only when asked, without its secrets, and the audit log knows who looked', async () => {
    const { page, id } = await start()

    const payload = page.getByRole('region', { name: 'Payload', exact: true }).first()
    await payload.getByRole('button', { name: 'Show the payload' }).waitFor()
    expect(await page.getByText('1041').count()).toBe(0 + (await page.getByText('order-1041').count()))
    await payload.getByRole('button', { name: 'Show the payload' }).click()
    await payload.getByText('"amount"').waitFor()

    expect(await payload.textContent()).toContain('[masked]')
    expect(await page.content()).not.toContain('hunter2')
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    const { items } = await client.audit.list({})
    expect(items.map((it) => JSON.stringify(it.target))).toContainEqual(expect.stringContaining(id))
  })

  it('leads to those of the same cause, by button and by key', async () => {
    const { page, id, newer, older } = await start()

    await page.getByRole('button', { name: 'Older' }).click()
    await page.waitForURL(new RegExp(`/dlq/${older}$`))
    await page.getByRole('heading', { name: `Dead letter ${older}` }).waitFor()
    await page.getByRole('button', { name: 'Newer' }).click()
    await page.waitForURL(new RegExp(`/dlq/${id}$`))
    await page.getByRole('button', { name: 'Newer' }).and(page.locator(':enabled')).waitFor()
    await page.keyboard.press('p')

    await page.waitForURL(new RegExp(`/dlq/${newer}$`))
  })

  it('says what a retry would do before anybody does it', async () => {
    const { page } = await start()
    await given.job({ state: 'available', uniqueKey: 'order-1041' })

    const outlook = page.getByRole('region', { name: 'If it is retried' })
    await outlook.getByText('None serves this kind in this queue now').waitFor()
    await outlook.getByRole('button', { name: 'Ask the server: dry run' }).click()

    await outlook.getByText('A retry would be refused: unique conflict').waitFor()
  })

  it('goes back to work with what was changed about it, and its page says where it is then', async () => {
    const { page, id } = await start()

    await page.keyboard.press('r')
    const dialog = page.getByRole('dialog', { name: 'Retry dead letters' })
    await dialog.getByText(`Dead letter ${id}`).waitFor()
    await dialog.getByText('Some more').click()
    await dialog.getByLabel('So many more').fill('2')
    await dialog.getByText('Changes to each job').click()
    await dialog.getByRole('textbox', { name: 'Queue', exact: true }).fill('billing-slow')
    await dialog.getByText('Exactly 1 row as of now').waitFor()
    await dialog.getByRole('button', { name: 'Retry', exact: true }).click()
    await dialog.getByText('It is over: 1 done, 0 skipped, 0 refused.').waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()

    await page.getByText('It is no dead letter any more.').waitFor()
    expect(await client.jobs.get(id)).toMatchObject({ state: 'available', queue: 'billing-slow', maxAttempts: 7 })
    await page.close()
    expect(complaints().join()).toMatch(/404/)
  })

  it('keeps what people say about it, and what they say about its cause', async () => {
    const { page, id } = await start()
    const triage = page.getByRole('region', { name: 'Triage' })

    await triage.getByText('Nobody has said anything about it.').waitFor()
    await triage.getByRole('button', { name: 'This one' }).click()
    await page.getByRole('menuitem', { name: 'Resolve …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Resolve' })
    const back = dialog.getByRole('checkbox', { name: 'Take the resolution back' })
    expect(await back.count()).toBe(0)
    await dialog.getByLabel('Where the fix is').fill('javascript:alert(1)')
    await dialog.getByRole('button', { name: 'Resolve', exact: true }).click()
    await dialog.getByText('Resolved by').waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
    await triage.getByText('javascript:alert(1)').waitFor()
    await triage.getByRole('button', { name: 'This one' }).click()
    await page.getByRole('menuitem', { name: 'Resolve …' }).click()
    await back.waitFor()
    await dialog.getByRole('button', { name: 'Back', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await triage.getByRole('button', { name: 'Its cause' }).click()
    await page.getByRole('menu', { name: 'Its cause' }).getByRole('menuitem', { name: 'Mute …' }).click()
    await page.getByRole('dialog', { name: 'Mute' }).getByRole('button', { name: 'Mute', exact: true }).click()
    await page.getByRole('dialog').getByText('Muted by').waitFor()

    expect(await page.locator('a[href^="javascript"]').count()).toBe(0)
    expect(await client.dlq.triageOf(id)).toMatchObject({ link: 'javascript:alert(1)' })
    const [group] = (await client.dlq.groups({})).items
    expect(group).toMatchObject({ cause: 'gateway-timeout', status: 'muted' })
  })

  it('offers a reader nothing to change', async () => {
    const { page } = await start({ readOnly: true })

    await page.getByRole('region', { name: 'Same cause' }).getByRole('listitem').first().waitFor()

    expect(await page.getByRole('button', { name: /…$|This one|Its cause|dry run/ }).count()).toBe(0)
  })
})
