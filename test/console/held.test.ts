import { defineJob, Spillway } from 'spillway'
import { expect, it } from 'vitest'
import { crashing, fingerprintOfTest } from '../support/crashing.js'
import { describeConsole } from './browser.js'

const FP = fingerprintOfTest()

describeConsole('what is held', ({ serve, open, given, store, db, url: database, after }) => {
  const { convict } = crashing(store, given, db)
  const look = async (path: string, options = {}) => {
    const { url } = await serve(options)
    return await open(`${url}${path}`)
  }
  const unreadable = (count: number, payload: unknown) =>
    given.jobs(count, { state: 'undecodable', queue: 'mail', kind: 'send_mail', heldReason: 'to: no text', payload })
  /** A worker of the queue whose code reads `{ "to": "…" }` and nothing else. */
  const startReader = async () => {
    const validate = (value: unknown) =>
      typeof (value as { to?: unknown }).to === 'string'
        ? { value: value as { to: string } }
        : { issues: [{ message: 'expected a text', path: ['to'] }] }
    const job = defineJob({ kind: 'send_mail', schema: { '~standard': { version: 1, vendor: 'own', validate } } })
    const spillway = new Spillway({ url: database })
    const worker = spillway.worker({ queues: { mail: {} }, jobs: [job.handle(() => undefined)] })
    await worker.start()
    after(async () => {
      await worker.stop()
      await spillway.close()
    })
  }

  it('says so where it is nothing', async () => {
    const page = await look('/held')

    await page.getByText('Nothing is quarantined').waitFor()
    await page.getByText('Nothing is undecodable').waitFor()
  })

  it('leads from a fingerprint to its crashes and jobs, and lets a canary go first', async () => {
    const job = await convict()
    const page = await look('/held')

    await page.getByRole('table', { name: 'Quarantined fingerprints' }).getByRole('link').click()
    await page.waitForURL(new RegExp(`/held/${FP}$`))
    const crashes = page.getByRole('table', { name: 'Crashes' }).getByRole('row')
    await crashes.nth(3).waitFor()
    await page.getByRole('table', { name: 'Jobs of the fingerprint' }).getByRole('link', { name: job.id }).waitFor()
    await page.getByRole('button', { name: 'Release …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Release from quarantine' })
    await dialog.getByText(/1 held job .*killed 3 workers/).waitFor()
    await dialog.getByRole('button', { name: 'Release a canary' }).click()
    await dialog.getByText(`Job ${job.id} was released as the canary`).waitFor()
    await page.getByText('Canary runs').first().waitFor()

    expect((await store.getJob(job.id))?.state).toBe('available')
  })

  it('has no way out for who may only look', async () => {
    await convict()
    const page = await look(`/held/${FP}`, { readOnly: true })

    await page.getByRole('table', { name: 'Crashes' }).waitFor()

    expect(await page.getByRole('button', { name: / …$/ }).count()).toBe(0)
  })

  it('says how many would decode now, and releases those and no others', async () => {
    await unreadable(2, { to: 'ada' })
    await unreadable(1, { to: 7 })
    await startReader()
    const page = await look('/held')

    await page.getByText('2 of 3').waitFor()
    await page.getByRole('button', { name: 'Release send_mail version 1' }).click()
    const dialog = page.getByRole('dialog', { name: 'Release what decodes now' })
    await dialog.getByText('Of 3 jobs 2 would decode now; 1 would not').waitFor()
    await dialog.getByRole('button', { name: 'Release', exact: true }).click()
    await dialog.getByText('2 jobs released, 1 job left as they were').waitFor()

    expect((await store.listJobs({ state: 'undecodable' }, { limit: 10 })).items).toHaveLength(1)
  })
})
