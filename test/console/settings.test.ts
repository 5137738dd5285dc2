import { expect, it } from 'vitest'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'

describeConsole('settings', ({ serve, open, client, store, given }) => {
  const start = async (path = '/settings', options = {}) => {
    const { url } = await serve(options)
    return await open(`${url}${path}`)
  }

  it('make a token whose secret is shown once, and end it', async () => {
    const page = await start()
    const dialog = page.getByRole('dialog')

    await page.getByRole('button', { name: 'New token …' }).click()
    await dialog.getByRole('textbox', { name: 'Name' }).fill('on call')
    await dialog.getByRole('combobox', { name: 'Role' }).selectOption('operator')
    await dialog.getByRole('textbox', { name: 'Queues' }).fill('billing, email')
    await dialog.getByRole('button', { name: 'Make the token' }).click()
    await dialog.getByText('it is shown now and never again').waitFor()
    const secret = await dialog.locator('pre').textContent()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page
      .getByRole('row', { name: /on call/ })
      .getByText('billing, email')
      .waitFor()
    const [made] = (await client.tokens.list()).items
    await page.getByRole('button', { name: 'Revoke on call' }).click()
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
    await dialog.getByText('is revoked').waitFor()

    expect(secret).toMatch(/^\S{20,}$/)
    expect(made).toMatchObject({ name: 'on call', queues: ['billing', 'email'] })
    expect(await page.content()).not.toContain(secret)
    expect((await client.tokens.list()).items[0]?.revokedAt).toBeInstanceOf(Date)
  })

  it('hold a duty with a reason, and the overview says so', async () => {
    const page = await start()
    const dialog = page.getByRole('dialog')

    await page.getByRole('button', { name: 'Pause webhooks' }).click()
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('the receiver is moved')
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click()
    await dialog.getByText('The duty webhooks is paused now').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page
      .getByRole('row', { name: /webhooks Paused/ })
      .getByText('the receiver is moved')
      .waitFor()
    await page.getByRole('link', { name: 'Overview', exact: true }).click()

    await page.getByRole('region', { name: 'Duties late' }).getByText('Paused').waitFor()
  })

  it('hide a place of payloads, and show it again', async () => {
    const page = await start()
    const dialog = page.getByRole('dialog')

    await page.getByRole('button', { name: 'Hide a place …' }).click()
    await dialog.getByRole('textbox', { name: 'Place' }).fill('customer.email')
    await dialog.getByRole('button', { name: 'Hide', exact: true }).click()
    await dialog.getByText('customer.email is hidden now').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('button', { name: 'Show customer.email again' }).waitFor()

    expect((await store.listAudit({}, { limit: 1 })).items[0]).toMatchObject({ action: expect.stringMatching(/mask/) })
  })

  it('have no secrets, tokens or buttons for who may only look', async () => {
    const { secret } = await client.tokens.create({ name: 'viewer', role: 'viewer' })
    const listening = await serve({ access: { tokens: true } })
    const page = await open(`${listening.url}/settings`, { extraHTTPHeaders: { authorization: `Bearer ${secret}` } })

    await page.getByRole('table', { name: 'Duties' }).waitFor()

    expect(await page.getByRole('region', { name: 'Tokens' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: / …$/ }).count()).toBe(0)
  })

  it('stand beside an overview that says what failed again, what is muted, and what nobody serves', async () => {
    await incident(given, client)
    await client.dlq.resolve({ queue: 'email', cause: 'smtp-refused' })
    await client.dlq.mute({ queue: 'billing', cause: 'gateway-timeout' }, '1h')
    await given.job({
      ...{ state: 'archived', queue: 'email', kind: 'send_receipt', cause: 'smtp-refused' },
      ...{ dlqAt: new Date(Date.now() + 1_000), errorMessage: '550 once more' },
    })
    await given.worker({ queues: ['thumbnails'], kinds: ['shrink@1'] })
    await store.judgeUnserved(45_000, 1_000)
    const page = await start('/')

    await page.getByRole('table', { name: 'Causes that failed again' }).getByText('Failed again').waitFor()
    await page.getByText('1 cause with 40 dead left out: muted').waitFor()
    await page.getByRole('table', { name: 'Jobs unserved' }).getByText('resize').waitFor()
  })
})
