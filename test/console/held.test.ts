import { defineJob, Spillway } from 'spillway'
import { expect, it } from 'vitest'
import { crashing, fingerprintOfTest } from '../support/crashing.js'
import { describeConsole } from './browser.js'

const FP = fingerprintOfTest()

describeConsole('what is held', ({ serve, open, given, store, client, db, url: database, after }) => {
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

  it('has no way out for who may only look, and nothing to choose', async () => {
    await convict()
    await unreadable(1, {})
    const page = await look(`/held/${FP}`, { readOnly: true })

    for (const [path, table] of [
      [`/held/${FP}`, 'Jobs of the fingerprint'],
      ['/held', 'Undecodable jobs'],
    ] as const) {
      await page.goto(new URL(path, page.url()).href)
      await page.getByRole('table', { name: table }).waitFor()
      expect(await page.getByRole('button', { name: / …$/ }).count(), path).toBe(0)
      expect(await page.getByRole('checkbox').count(), path).toBe(0)
    }
  })

  it('lets those of a fingerprint go that are chosen, and says of each other one why it stays', async () => {
    const [first, second, third] = await given.jobs(3, { state: 'quarantined', queue: 'mail', fingerprint: FP })
    const page = await look(`/held/${FP}`)

    for (const id of [first, second]) await page.getByRole('checkbox', { name: `Select job ${id}` }).check()
    await page.getByText('2 jobs selected').waitFor()
    await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Release …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Release quarantined jobs' })
    await dialog.getByText('2 selected jobs').waitFor()
    await client.jobs.cancel(second ?? '')
    await dialog.getByRole('button', { name: 'Release 2' }).click()
    await dialog.getByText('1 job released, 1 job left as it was').waitFor()
    await dialog.getByRole('list', { name: 'Left as they were' }).getByText(`Job ${second}:`).waitFor()

    const states = await Promise.all([first, second, third].map((id) => store.getJob(id ?? '')))
    expect(states.map((job) => job?.state)).toEqual(['available', 'cancelled', 'quarantined'])
  })

  it('lets a page of the undecodable go after saying how many of it decode', async () => {
    await unreadable(2, { to: 'ada' })
    const [broken] = await unreadable(1, { to: 7 })
    await startReader()
    const page = await look('/held')

    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
    await page.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Release …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Release undecodable jobs' })
    await dialog.getByText('Of 3 jobs 2 would decode now; 1 would not').waitFor()
    await dialog.getByRole('button', { name: 'Release what decodes' }).click()
    await dialog.getByText('2 jobs released, 1 job left as it was').waitFor()
    await dialog.getByRole('list', { name: 'Left as they were' }).getByText(`Job ${broken}:`).waitFor()

    expect((await store.listJobs({ state: 'undecodable' }, { limit: 10 })).items.map(({ id }) => id)).toEqual([broken])
  })

  it('is let go from the list of jobs as well, where it is longer than a page', async () => {
    const [job] = await unreadable(1, { to: 7 })
    const page = await look('/jobs?state=undecodable')

    await page.getByRole('checkbox', { name: `Select job ${job}` }).check()
    await page.getByRole('button', { name: 'Release …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Release undecodable jobs' })
    await dialog.getByText('Of 1 job nobody can say').waitFor()
    await dialog.getByRole('checkbox', { name: 'Also what does not decode, or nobody can say' }).check()
    await dialog.getByRole('button', { name: 'Release all' }).click()
    await dialog.getByText('1 job released, 0 jobs left').waitFor()

    expect((await store.getJob(job ?? ''))?.state).toBe('available')
  })

  it('says how many would decode now, and releases those and no others', async () => {
    await unreadable(2, { to: 'ada' })
    await unreadable(1, { to: 7 })
    await startReader()
    const page = await look('/held')

    await page.getByText('2 of 3').waitFor()
    await page.getByRole('button', { name: 'Release send_mail version 1' }).click()
    const dialog = page.getByRole('dialog', { name: 'Release undecodable jobs' })
    await dialog.getByText('Of 3 jobs 2 would decode now; 1 would not').waitFor()
    await dialog.getByRole('button', { name: 'Release what decodes' }).click()
    await dialog.getByText('2 jobs released, 1 job left as it was').waitFor()

    expect((await store.listJobs({ state: 'undecodable' }, { limit: 10 })).items).toHaveLength(1)
  })
})
