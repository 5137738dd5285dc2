import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { defineJob, Spillway } from '../../src/index.js'
import { until } from '../support/patience.js'
import { describeConsole } from './browser.js'

/** What goes wrong, how often, and the class of the error. */
const TROUBLES = {
  GatewayTimeout: { message: 'payment gateway did not answer within 30 s', times: 12 },
  SmtpRefused: { message: '550 5.1.1 recipient address rejected', times: 5 },
  RateLimited: { message: 'the carrier answered 429', times: 4 },
  DiskFull: { message: 'no space left on device', times: 3 },
  LockTimeout: { message: 'canceling statement due to lock timeout', times: 2 },
  CertificateExpired: { message: 'certificate has expired', times: 2 },
  BadAmount: { message: 'the amount is no number', times: 1 },
} as const
type Trouble = keyof typeof TROUBLES
const NAMES = Object.keys(TROUBLES) as Trouble[]

interface Order {
  readonly trouble: Trouble
  readonly amount: unknown
}

const order = defineJob<Order>({ kind: 'charge_card', queue: 'billing', maxAttempts: 1 })

describeConsole('an incident, from its beginning to its end', ({ serve, open, after, url, client, complaints }) => {
  it('is seen, understood, repaired and closed in one window, and followed in another', {
    timeout: 240_000,
  }, async () => {
    const mended = new Set<Trouble>()
    const spillway = new Spillway({ url })
    after(() => spillway.close())
    const worker = spillway.worker({
      queues: { billing: { concurrency: 5 } },
      jobs: [
        order.handle(async ({ trouble, amount }) => {
          const isBad = trouble === 'BadAmount' ? typeof amount !== 'number' : !mended.has(trouble)
          if (!isBad) return { charged: amount }
          throw Object.assign(new Error(TROUBLES[trouble].message), { name: trouble })
        }),
      ],
    })
    await worker.start()
    after(() => worker.stop())
    const server = await serve()
    const [here, there] = [await open(`${server.url}/dlq`), await open(`${server.url}/dlq`)]
    for (const page of [here, there]) await page.getByText('Nothing is dead').waitFor()

    // Seven causes appear in both windows, without anybody asking.
    for (const trouble of NAMES) {
      for (let n = 0; n < TROUBLES[trouble].times; n++) await spillway.enqueue(order, { trouble, amount: 'twelve' })
    }
    await causesAre(here, NAMES)
    await causesAre(there, NAMES)

    // One is opened, understood by its stack and payload, and repaired.
    await linkOf(here, 'BadAmount').click()
    // By its row: until those of the cause have come, all the others are still there.
    const dead = here.getByRole('table', { name: 'Dead letters' }).getByRole('row', { name: /BadAmount/ })
    await dead.getByRole('link', { name: /^\d+$/ }).click()
    await here.waitForURL(/\/dlq\/\d+$/)
    const id = new URL(here.url()).pathname.split('/').at(-1) as string
    await here.getByRole('region', { name: 'Stack', exact: true }).getByText('story.test.ts').first().waitFor()
    await here.getByRole('button', { name: 'Show the payload' }).click()
    await here.getByText('"twelve"').waitFor()
    await here.getByRole('button', { name: 'Edit', exact: true }).click()
    const editor = here.getByRole('textbox', { name: 'Payload as JSON' })
    await editor.fill(String(await editor.textContent()).replace('"twelve"', '12'))
    await here.getByRole('button', { name: 'Review the change …' }).click()
    const saving = here.getByRole('dialog', { name: 'Save the payload' })
    await saving.getByText('Save and retry with all attempts').click()
    await saving.getByLabel('Reason').fill('amounts are numbers')
    await saving.getByRole('button', { name: 'Save and retry', exact: true }).click()
    await until(async () => (await client.jobs.get(id))?.state === 'completed')
    expect((await client.jobs.get(id))?.result).toEqual({ charged: 12 })
    await causesAre(
      there,
      NAMES.filter((it) => it !== 'BadAmount'),
    )

    // The gateway is mended: a few go first, and the rest follows.
    mended.add('GatewayTimeout')
    await here.goto(`${server.url}/dlq`)
    await chooseAll(here, 'GatewayTimeout', 12)
    await here.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Retry …' }).click()
    const retrying = here.getByRole('dialog', { name: 'Retry dead letters' })
    await retrying.getByText('Exactly 12 rows as of now').waitFor()
    await retrying.getByText('Pace', { exact: true }).click()
    await retrying.getByLabel('Canaries').fill('2')
    await retrying.getByRole('button', { name: 'Retry', exact: true }).click()
    await retrying.getByText('It is over: 12 done, 0 skipped, 0 refused.').waitFor({ timeout: 60_000 })
    await until(async () => (await client.jobs.counts()).completed === 13)
    const [redrive] = (await client.operations.list({})).items.filter((it) => !it.dryRun && it.matched === 12)
    expect(redrive).toMatchObject({ action: 'retry', state: 'done', succeeded: 12, canary: 2 })
    const left = NAMES.filter((it) => it !== 'BadAmount' && it !== 'GatewayTimeout')
    await causesAre(there, left)

    // A discard was too much, and is taken back.
    await here.goto(`${server.url}/dlq`)
    await chooseAll(here, 'SmtpRefused', 5)
    await here.getByRole('region', { name: 'Selection' }).getByRole('button', { name: 'Discard …' }).click()
    const discarding = here.getByRole('dialog', { name: 'Discard dead letters' })
    await discarding.getByText('Exactly 5 rows as of now').waitFor()
    await discarding.getByRole('button', { name: 'Discard', exact: true }).click()
    await discarding.getByText('It is over: 5 done').waitFor()
    await causesAre(
      there,
      left.filter((it) => it !== 'SmtpRefused'),
    )
    await discarding.getByRole('link', { name: /^Operation \d+/ }).click()
    await here.getByRole('button', { name: /^Undo/ }).click()
    await here.getByRole('dialog').getByRole('button', { name: /^Undo/ }).click()
    await causesAre(there, left)

    expect(await client.dlq.count({})).toBe(16)
    // The browser logs the 404 of a page whose dead letter has gone back to work.
    expect(complaints().filter((it) => !it.includes('404'))).toEqual([])
  })
})

function linkOf(page: Page, trouble: Trouble) {
  return page.getByRole('table', { name: 'Causes of death' }).getByRole('link', { name: `${trouble}:` })
}

/** Waits until the causes shown are these and no others. */
async function causesAre(page: Page, troubles: readonly Trouble[]): Promise<void> {
  const links = page.getByRole('table', { name: 'Causes of death' }).getByRole('link')
  const wanted = [...troubles].sort().join()
  const shown = async () => (await links.allInnerTexts()).map((it) => it.split(':')[0]).sort()
  await until(async () => (await shown()).join() === wanted, {
    what: `${troubles.join(', ')} in the list of causes`,
  })
}

/** Goes to the rows of a cause, and chooses everything that matches. */
async function chooseAll(page: Page, trouble: Trouble, count: number): Promise<void> {
  await linkOf(page, trouble).click()
  await page.waitForURL(/cause=/)
  await page.getByText(new RegExp(`^${count} on page 1`)).waitFor()
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
}
