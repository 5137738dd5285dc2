import { expect, it } from 'vitest'
import { aDeath } from './a-death.js'
import { describeConsole } from './browser.js'

const PUBLISHED = `update spillway.workers set schemas =
  '{"charge_card":{"version":1,"schema":{"type":"object","properties":{"amount":{"type":"string"}}}}}'`

describeConsole('the payload of a dead letter', ({ serve, open, given, client, db, complaints }) => {
  const edit = async (change: (text: string) => string, options = {}) => {
    const [id] = await aDeath(given)
    const { url } = await serve(options)
    const page = await open(`${url}/dlq/${id}`)
    await page.getByRole('button', { name: 'Show the payload' }).click()
    const text = (await client.jobs.get(id))?.payload as object
    const shown = { ...text, card: { password: '[masked]' } }
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('textbox', { name: 'Payload as JSON' }).fill(change(JSON.stringify(shown, null, 2)))
    return { page, id, stored: text }
  }
  const review = async (change: (text: string) => string) => {
    const edited = await edit(change)
    await edited.page.getByRole('button', { name: 'Review the change …' }).click()
    const dialog = edited.page.getByRole('dialog', { name: 'Save the payload' })
    await dialog.getByRole('region', { name: 'What changes in the payload' }).waitFor()
    return { ...edited, dialog }
  }
  const inCents = (text: string) => text.replace('"12.50"', '"1250"')

  it('is saved after its change was seen, and what is masked keeps its value', async () => {
    const { dialog, id, stored } = await review(inCents)

    await dialog.getByText('"12.50"').waitFor()
    await dialog.getByLabel('Reason').fill('amounts are in cents')
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByText('The payload is saved as version 2').waitFor()

    expect(await client.jobs.get(id)).toMatchObject({ state: 'archived', payload: { ...stored, amount: '1250' } })
  })

  it('is shown version by version, with what each of them changed', async () => {
    const { page, dialog } = await review(inCents)
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByText('The payload is saved').waitFor()
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()

    await page.getByRole('button', { name: 'Versions' }).click()

    const changed = page.getByRole('region', { name: 'What version 2 changed' })
    await changed.getByText('"1250"').waitFor()
    await changed.getByText('"12.50"').waitFor()
    await page.getByRole('region', { name: 'Payload of version 1' }).waitFor()
    expect(await page.content()).not.toContain('hunter2')
  })

  it('is saved and the job retried in one step', async () => {
    const { page, dialog, id } = await review(inCents)

    await dialog.getByText('Save and retry with all attempts').click()
    await dialog.getByRole('button', { name: 'Save and retry', exact: true }).click()
    await page.getByText('It is no dead letter any more.').waitFor()
    await dialog.getByText(`Job ${id} is available.`).waitFor()

    expect(await client.jobs.get(id)).toMatchObject({ state: 'available', payload: { amount: '1250' } })
    await page.close()
    expect(complaints().join()).toMatch(/404/)
  })

  it('is saved where only the retry is refused, and the page says exactly that', async () => {
    await given.job({ state: 'available', uniqueKey: 'order-1041' })
    const { dialog, id } = await review(inCents)

    await dialog.getByText('Save and retry with all attempts').click()
    await dialog.getByRole('button', { name: 'Save and retry', exact: true }).click()
    await dialog.getByText('The payload is saved as version 2').waitFor()
    await dialog.getByText('The retry was refused: the job is a dead letter still, with the new payload.').waitFor()

    expect(await client.jobs.get(id)).toMatchObject({ state: 'archived', payload: { amount: '1250' } })
    expect(complaints().join()).toMatch(/409/)
  })

  it('stays as it is where its schema refuses it; what was typed stays too', async () => {
    const { page, dialog, id, stored } = await review((text) => text.replace('"12.50"', '1250'))
    await given.worker({ queues: ['billing'], kinds: ['charge_card@1'] })
    await db.script(PUBLISHED)

    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByText('payload_refused').waitFor()
    await dialog
      .getByText(/amount/)
      .first()
      .waitFor()
    await dialog.getByRole('button', { name: 'Back', exact: true }).click()
    await page.getByRole('textbox', { name: 'Payload as JSON' }).getByText('1250').waitFor()

    expect(await client.jobs.get(id)).toMatchObject({ payload: stored })
    expect(complaints().join()).toMatch(/422/)
  })

  it('is not sent before it is JSON', async () => {
    const { page } = await edit((text) => text.slice(0, -1))

    await page.getByText('Not JSON yet').waitFor()

    expect(await page.getByRole('button', { name: 'Review the change …' }).isDisabled()).toBe(true)
  })
})
