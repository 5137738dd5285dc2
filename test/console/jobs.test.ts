import { expect, it } from 'vitest'
import { until } from '../support/patience.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'

const PHONE = { viewport: { width: 390, height: 844 } }

describeConsole('jobs', ({ serve, open, given, client, store, complaints }) => {
  const start = async (path = '/jobs', options = {}, pageOptions = {}) => {
    await incident(given, client)
    const { url } = await serve(options)
    return await open(`${url}${path}`, pageOptions)
  }

  it('stand in every state, each with its number, and a state narrows the list', async () => {
    const page = await start()
    const states = page.getByRole('navigation', { name: 'States' })

    await states.getByRole('link', { name: 'Available 25' }).waitFor()
    await states.getByRole('link', { name: 'Archived 49' }).waitFor()
    await states.getByRole('link', { name: 'Completed 3' }).click()
    await page.getByText('3 on page 1').waitFor()

    expect(new URL(page.url()).searchParams.get('state')).toBe('completed')
    expect(
      await page
        .getByRole('table', { name: 'Jobs' })
        .getByRole('row', { name: /charge_card/ })
        .count(),
    ).toBe(3)
  })

  it('open beside the list with what keeps them, and the address says which', async () => {
    const page = await start('/jobs?state=available')

    await page.getByRole('table', { name: 'Jobs' }).getByRole('link').first().click()
    const sheet = page.getByRole('complementary', { name: /^Job \d+$/ })
    await sheet.getByText('What would let it run').waitFor()
    const id = new URL(page.url()).searchParams.get('job')
    await page.reload()
    await sheet.getByRole('button', { name: 'Promote …' }).waitFor({ state: 'detached' })
    await sheet.getByRole('button', { name: 'Kill …' }).waitFor()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })

    expect(id).toMatch(/^\d+$/)
    expect(new URL(page.url()).search).toBe('?state=available')
  })

  it('open as a page of their own on a phone', async () => {
    const page = await start('/jobs?state=completed', {}, PHONE)

    await page.getByRole('table', { name: 'Jobs' }).getByRole('link').first().click()
    await page.waitForURL(/\/jobs\/\d+$/)

    await page.getByRole('heading', { level: 1, name: /^Job \d+$/ }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  })

  it('show what happened to them, in the words of who wrote it', async () => {
    const job = await given.job({ state: 'retryable', attempt: 2, queue: 'billing', kind: 'charge_card' })
    const page = await start(`/jobs/${job.id}`)

    const history = page.getByRole('list', { name: `History of job ${job.id}` })
    await history
      .getByText(/Failed: attempt/)
      .first()
      .waitFor()

    expect(await history.getByText(/Failed: attempt/).count()).toBe(2)
  })

  it('show their payload when asked, and the audit log knows', async () => {
    const job = await given.job({ payload: { to: '<b>ada</b>', password: 'hunter2' } })
    const page = await start(`/jobs/${job.id}`)

    await page.getByRole('button', { name: 'Show the payload' }).click()
    const payload = page.getByRole('region', { name: `Payload of job ${job.id}` })
    await payload.getByText('<b>ada</b>').waitFor()

    expect(await payload.textContent()).not.toContain('hunter2')
    expect((await store.listAudit({}, { limit: 10 })).items.map(({ action }) => action)).toContain('reveal_payload')
  })

  it('are killed after the page has said what that does, and the page says what became of them', async () => {
    const job = await given.job({ queue: 'billing', kind: 'charge_card' })
    const page = await start(`/jobs/${job.id}`)

    await page.getByRole('button', { name: 'Kill …' }).click()
    const dialog = page.getByRole('dialog', { name: `Kill job ${job.id}` })
    await dialog.getByText('It is given up and becomes a dead letter').waitFor()
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('of no use')
    await dialog.getByRole('button', { name: 'Kill', exact: true }).click()
    await dialog.getByText(`Job ${job.id} is archived now`).waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('button', { name: 'Retry …' }).waitFor()

    expect(await store.getJob(job.id)).toMatchObject({ state: 'archived', dlq: { reason: 'of no use' } })
  })

  it('stay as they are where somebody was faster, and the page says so', async () => {
    const job = await given.job({ state: 'scheduled', runAt: new Date(Date.now() + 3_600_000) })
    const page = await start(`/jobs/${job.id}`)

    await page.getByRole('button', { name: 'Promote …' }).click()
    await client.jobs.cancel(job.id)
    await page.getByRole('dialog').getByRole('button', { name: 'Promote', exact: true }).click()
    await page.getByRole('dialog').getByRole('alert').getByText('invalid_state').waitFor()

    expect(complaints().join()).toMatch(/409/)
    expect((await store.getJob(job.id))?.state).toBe('cancelled')
  })

  it('get what is wrong with a due time said, and keep what was typed', async () => {
    const job = await given.job({ queue: 'billing' })
    const page = await start(`/jobs/${job.id}`)

    await page.getByRole('button', { name: 'Reschedule …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'When it is due' }).fill('soon')
    await dialog.getByRole('button', { name: 'Reschedule', exact: true }).click()
    await dialog.getByRole('alert').waitFor()
    complaints()
    await dialog.getByRole('textbox', { name: 'When it is due' }).fill('2h')
    await dialog.getByRole('button', { name: 'Reschedule', exact: true }).click()
    await dialog.getByText(`Job ${job.id} is scheduled now`).waitFor()

    expect((await store.getJob(job.id))?.state).toBe('scheduled')
  })

  it('are cancelled one by one, by the only button of that name', async () => {
    const job = await given.job({ queue: 'billing' })
    const page = await start(`/jobs/${job.id}`)

    await page.getByRole('button', { name: 'Cancel …' }).click()
    const dialog = page.getByRole('dialog', { name: `Cancel job ${job.id}` })
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click()
    await dialog.getByText(`Job ${job.id} is cancelled now`).waitFor()

    expect((await store.getJob(job.id))?.state).toBe('cancelled')
  })

  it('are cancelled by the selection, each with its own answer', async () => {
    const page = await start('/jobs?queue=thumbnails')
    const [first, second] = await client.jobs.list({ queue: 'thumbnails' }, { limit: 2 }).then(({ items }) => items)

    for (const job of [first, second]) await page.getByRole('checkbox', { name: `Select job ${job?.id}` }).check()
    await page.getByRole('button', { name: 'Cancel …' }).click()
    await client.jobs.kill(second?.id ?? '')
    const dialog = page.getByRole('dialog', { name: 'Cancel jobs' })
    await dialog.getByText('2 selected jobs').waitFor()
    await dialog.getByRole('button', { name: 'Cancel 2' }).click()
    await dialog.getByText('done with 1 job, refused for 1 job').waitFor()
    await dialog.getByText(`Job ${second?.id}:`).waitFor()

    expect((await store.getJob(first?.id ?? ''))?.state).toBe('cancelled')
    expect((await store.getJob(second?.id ?? ''))?.state).toBe('archived')
  })

  it('are purged only after it was typed how many, or which', async () => {
    const page = await start('/jobs?state=completed')
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
    await page.getByRole('button', { name: 'Purge …' }).click()
    const dialog = page.getByRole('dialog')
    const many = dialog.getByRole('button', { name: 'Purge 3' })
    expect(await many.isDisabled()).toBe(true)
    await dialog.getByLabel(/^Type/).fill('purge 3')
    await many.click()
    await dialog.getByText('done with 3 jobs').waitFor()

    const job = await given.job({ state: 'completed' })
    await page.goto(new URL(`/jobs/${job.id}`, page.url()).href)
    await page.getByRole('button', { name: 'Purge …' }).click()
    const one = dialog.getByRole('button', { name: 'Purge', exact: true })
    expect(await one.isDisabled()).toBe(true)
    await dialog.getByLabel(/^Type/).fill(job.id)
    await one.click()
    await dialog.getByText(`Job ${job.id} is gone for good`).waitFor()

    expect(await client.jobs.get(job.id)).toBeUndefined()
    // The browser logs the 404 of a page whose job is gone.
    await page.close()
    expect(complaints().filter((it) => !it.includes('404'))).toEqual([])
  })

  it('have no button for what the caller may not do', async () => {
    const job = await given.job({ queue: 'billing' })
    const page = await start(`/jobs/${job.id}`, { readOnly: true })

    await page.getByText('What would let it run').waitFor()
    await until(async () => (await page.getByText('Queue').count()) > 0)

    expect(await page.getByRole('button', { name: / …$/ }).count()).toBe(0)
  })
})
