import { expect, it } from 'vitest'
import { listen } from '../../src/http/index.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'

describeConsole('queues, workers and the audit log', ({ serve, open, given, client, after, complaints }) => {
  const start = async (path: string, options = {}) => {
    await incident(given, client)
    const { url } = await serve(options)
    return await open(`${url}${path}`)
  }

  it('show each queue with its depth, its brakes and who works on it', async () => {
    const page = await start('/queues')
    const row = (name: string) => page.getByRole('table', { name: 'Queues' }).getByRole('row', { name })

    await row('email').getByText('Paused').waitFor()
    await row('thumbnails').getByText('Open').waitFor()
    await row('thumbnails').getByText('25').waitFor()
    await row('email').getByRole('link').click()

    await page.getByText(/by tests: the mail server is being moved/).waitFor()
    await page.getByRole('table', { name: 'Workers of the queue' }).getByText('charge_card@1, send_receipt@1').waitFor()
  })

  it('show how each keeps up: for how long its oldest job has waited, what is done a minute, and what grows', async () => {
    await given.job({ queue: 'reports', runAt: new Date(Date.now() - 2 * 3_600_000) })
    await given.jobs(7, { queue: 'reports', state: 'completed', finalizedAt: new Date() })
    const page = await start('/queues')
    const row = (name: string) => page.getByRole('table', { name: 'Queues' }).getByRole('row', { name })

    await row('reports').getByRole('cell', { name: '2 h', exact: true }).waitFor()
    await row('reports').getByRole('cell', { name: '7', exact: true }).waitFor()
    await row('email').getByRole('cell', { name: '–', exact: true }).waitFor()
    await given.jobs(3, { queue: 'thumbnails' })
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await row('thumbnails').getByText('Growing, +3').waitFor()
    await row('reports').getByText('Open').waitFor()
    await row('reports').getByRole('link').click()

    await page.getByRole('heading', { level: 1, name: 'Queue reports' }).waitFor()
    await page.getByRole('region', { name: 'Jobs', exact: true }).getByText('2 h', { exact: true }).waitFor()
  })

  it('stop a queue with a reason that everybody sees, and let it go on', async () => {
    const page = await start('/queues/billing')
    const dialog = page.getByRole('dialog')

    await page.getByRole('button', { name: 'Pause …' }).click()
    await dialog.getByText('No worker claims from it any more').waitFor()
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('the bank is closed')
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click()
    await dialog.getByText('billing is paused now').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByText(/Paused .*: the bank is closed/).waitFor()
    const paused = await client.queues.get('billing')
    await page.getByRole('button', { name: 'Resume …' }).click()
    await dialog.getByRole('button', { name: 'Resume', exact: true }).click()
    await dialog.getByText('billing is open now').waitFor()

    expect(paused?.pausedReason).toBe('the bank is closed')
    expect((await client.queues.get('billing'))?.pausedAt).toBeNull()
  })

  it('change only what was changed of a policy, after saying from what to what', async () => {
    const page = await start('/queues/billing')
    const dialog = page.getByRole('dialog', { name: 'Change the policy' })

    await page.getByRole('textbox', { name: 'Dead letters are kept' }).fill('12h')
    await page.getByRole('button', { name: 'Save …' }).click()
    await dialog.getByText(/Dead letters are kept: .* → 12h/).waitFor()
    await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByText('The policy is changed.').waitFor()

    expect((await client.queues.get('billing'))?.policy.retention.dlq).toBe(43_200_000)
  })

  it('say at its field what the server refuses of a policy, and keep what was typed', async () => {
    const page = await start('/queues/billing')
    const field = page.getByRole('textbox', { name: 'Crashes that quarantine' })

    await field.fill('many')
    await page.getByRole('button', { name: 'Save …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('dialog').getByRole('alert').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click()

    expect(await field.inputValue()).toBe('many')
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(complaints().join()).toMatch(/422/)
  })

  it('mark workers that fell silent, and show what each one serves', async () => {
    await incident(given, client)
    await given.worker({ name: 'lost', queues: ['email'], heartbeatAt: new Date(Date.now() - 300_000) })
    // No duties beside it: they would end the registration.
    const listening = await listen({ spillway: client, access: 'open', port: 0, stopAfterMs: 100 })
    after(() => listening.stop())
    const page = await open(`${listening.url}/workers`)

    await page.getByText('1 worker heard with 20 slots, 1 silent').waitFor()
    await page.getByRole('row', { name: /lost/ }).getByText('Silent').waitFor()

    expect(
      await page
        .getByRole('row', { name: /charge_card@1/ })
        .getByText('0 of 20')
        .count(),
    ).toBe(1)
  })

  it('are read in the audit log, by actor and action, each entry whole', async () => {
    await client.queues.set('billing', { crashLimit: 7 }, { reason: 'as agreed' })
    const page = await start('/audit?actor=tests')

    await page.getByRole('row', { name: /set queue/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('as agreed').waitFor()
    await dialog.getByRole('region', { name: 'Target' }).getByText('billing').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Action' }).click()
    await page.getByRole('textbox', { name: 'Action' }).fill('pause_queue')
    await page.keyboard.press('Enter')

    await page.waitForURL(/action=pause_queue/)
    await page.getByRole('row', { name: /set queue/ }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /pause queue/ }).waitFor()
  })
})
