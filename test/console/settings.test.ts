import { expect, it } from 'vitest'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'

describeConsole('settings', ({ serve, open, client, store, given, complaints }) => {
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

  it('tune a ring after saying from what to what, and keep what was typed where the server refuses', async () => {
    const page = await start()
    const dialog = page.getByRole('dialog', { name: 'Tune a ring' })
    const button = dialog.getByRole('button', { name: 'Tune', exact: true })

    await page.getByRole('button', { name: 'Tune leases' }).click()
    expect(await button.isDisabled()).toBe(true)
    await dialog.getByRole('textbox', { name: 'Rows' }).fill('5')
    await button.click()
    await dialog.getByRole('alert').waitFor()
    expect(complaints().join()).toMatch(/422/)
    await dialog.getByRole('textbox', { name: 'Rows' }).fill('500')
    await dialog.getByRole('textbox', { name: 'Age' }).fill('2m')
    await dialog.getByText('Rows: 20000 → 500').waitFor()
    await dialog.getByText('Age: 10s → 2m').waitFor()
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('a small machine')
    await button.click()
    await dialog.getByText('The ring leases turns after 500 rows or 2 min.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page
      .getByRole('row', { name: /leases/ })
      .getByText('500 rows or 2 min')
      .waitFor()

    const rings = await client.rings.list()
    expect(rings.find(({ ring }) => ring === 'leases')).toMatchObject({ rotateRows: 500, rotateMs: 120_000 })
    expect(rings.find(({ ring }) => ring === 'ready')?.rotateRows).toBe(20_000)
    expect((await store.listAudit({}, { limit: 1 })).items[0]?.reason).toBe('a small machine')
  })

  it('change what a webhook is told of and nothing else of it', async () => {
    const { id } = await client.webhooks.create({
      ...{ url: 'https://93.184.216.34/dead?token=4f9a8b7c6d5e', description: 'on call' },
      ...{ types: ['died'], queues: ['billing'], digest: '5m' },
    })
    const page = await start()
    const dialog = page.getByRole('dialog', { name: 'Edit a webhook' })
    const button = dialog.getByRole('button', { name: 'Save', exact: true })

    await page.getByRole('button', { name: /^Edit https/ }).click()
    expect(await button.isDisabled()).toBe(true)
    await dialog.getByRole('textbox', { name: 'Queues' }).fill('billing\nemail')
    await dialog.getByRole('textbox', { name: 'Told of' }).fill('')
    await dialog.getByText('Told of: died → all').waitFor()
    await dialog.getByText('Queues: billing → billing, email').waitFor()
    await button.click()
    await dialog.getByText('The webhook is changed.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page
      .getByRole('row', { name: /everything/ })
      .getByText('queue billing, email')
      .waitFor()

    const [stored] = await store.listWebhooks()
    expect(stored).toMatchObject({ id, types: null, queues: ['billing', 'email'], digestMs: 300_000 })
    expect(stored?.url).toBe('https://93.184.216.34/dead?token=4f9a8b7c6d5e')
  })

  it('send no url of a webhook that has a mark where its secret stands', async () => {
    await client.webhooks.create({ url: 'https://93.184.216.34/dead?token=4f9a8b7c6d5e' })
    const page = await start()
    const dialog = page.getByRole('dialog', { name: 'Edit a webhook' })
    const url = dialog.getByRole('textbox', { name: 'Url' })

    await page.getByRole('button', { name: /^Edit https/ }).click()
    await url.fill((await url.inputValue()).replace('/dead', '/died'))
    await dialog.getByText('Type it whole').waitFor()

    expect(await url.inputValue()).toContain('[secret]')
    expect(await dialog.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true)
  })

  it('have no secrets, tokens or buttons for who may only look', async () => {
    const { secret } = await client.tokens.create({ name: 'viewer', role: 'viewer' })
    const listening = await serve({ access: { tokens: true } })
    const page = await open(`${listening.url}/settings`, { extraHTTPHeaders: { authorization: `Bearer ${secret}` } })

    await page.getByRole('table', { name: 'Duties' }).waitFor()
    await page.getByRole('table', { name: 'Rings' }).waitFor()

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
