import { expect, it } from 'vitest'
import type { Right } from '../../src/job/rights.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'

describeConsole('who has to sign in', ({ serve, open, given, client, complaints }) => {
  const start = async (path: string) => {
    await incident(given, client)
    const { url } = await serve({ access: { tokens: true } })
    const page = await open(`${url}${path}`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    const signIn = async (token: string) => {
      await page.getByLabel(/^Token/).fill(token)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    return { page, signIn, url }
  }
  const tokenOf = async (rights: readonly Right[]) => (await client.tokens.create({ name: 'ann', rights })).secret

  it('is shown nothing before, and led to where the address points after', async () => {
    const { page, signIn } = await start('/dlq?queue=email')
    expect(await page.locator('body').textContent()).not.toContain('recipient address rejected')

    await signIn('spw_1_wrong')
    await page.getByRole('alert').getByText('the token is not valid').waitFor()
    await signIn(await tokenOf(['read']))
    await page
      .getByRole('row', { name: /recipient address rejected/ })
      .first()
      .waitFor()

    expect(new URL(page.url()).searchParams.get('queue')).toBe('email')
    expect(complaints().join()).toMatch(/status of 401/)
  })

  it('holds a cookie that no script of the page can read, and no token anywhere', async () => {
    const { page, signIn } = await start('/')
    const secret = await tokenOf(['read'])

    await signIn(secret)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()

    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ name: 'spillway_session', httpOnly: true, sameSite: 'Strict' })
    const kept = await page.evaluate<string>(
      'document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.body.outerHTML',
    )
    expect(kept).not.toContain(secret)
    expect(kept).not.toContain(cookie?.value)
  })

  it('changes things under the name of the token', async () => {
    const { page, signIn } = await start('/dlq?queue=email')
    await signIn(await tokenOf(['read', 'retry']))

    await page
      .getByRole('checkbox', { name: /^Select dead letter/ })
      .first()
      .check()
    await page.getByRole('button', { name: 'Retry …' }).click()
    await page.getByText('Exactly 1 row as of now').waitFor()
    const sent = page.waitForRequest((it) => it.url().endsWith('/dlq/bulk-retry'))
    await page.getByRole('dialog').getByRole('button', { name: 'Retry', exact: true }).click()
    await page.getByText('sends 1 dead letter back to work').waitFor()

    expect((await sent).headers()).toMatchObject({ 'x-spillway-csrf': '1' })
    expect((await client.audit.list({ action: 'retry' })).items[0]).toMatchObject({ actor: 'ann' })
  })

  it('is out at once when they say so, and stays out', async () => {
    const { page, signIn, url } = await start('/dlq')
    await signIn(await tokenOf(['read']))
    await page.getByRole('table', { name: 'Dead letters' }).waitFor()
    const [{ name, value } = { name: '', value: '' }] = await page.context().cookies()

    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByText('Signed in as ann').waitFor()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()

    expect(await page.context().cookies()).toEqual([])
    const again = await fetch(`${url}/api/v1/dlq`, { headers: { cookie: `${name}=${value}` } })
    expect(again.status).toBe(401)
    complaints()
  })

  it('is asked to sign in again where the session has ended meanwhile', async () => {
    const { page, signIn } = await start('/dlq')
    const { id, secret } = await client.tokens.create({ name: 'ann', rights: ['read'] })
    await signIn(secret)
    await page.getByRole('table', { name: 'Dead letters' }).waitFor()

    await client.tokens.revoke(id)
    await page
      .getByRole('link', { name: /smtp|recipient address rejected/ })
      .first()
      .click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()

    expect(new URL(page.url()).searchParams.get('cause')).toBe('smtp-refused')
    complaints()
  })

  it('is told which right is missing, and keeps the rest of the page', async () => {
    const { page, signIn } = await start('/dlq')

    await signIn(await tokenOf(['enqueue']))
    await page.getByRole('alert').getByText('the right read is missing').first().waitFor()

    await page.getByRole('heading', { level: 1, name: 'Dead letters' }).waitFor()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    expect(complaints().join()).toMatch(/status of 403/)
  })
})
