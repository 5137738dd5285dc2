// `npm run screenshots`: every screen of the console into docs/images, of an incident that really happens: an embedded
// database, a server, and a worker whose jobs fail. Desktop in light and dark, phone in light. SPILLWAY_CHROMIUM names a browser.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { startEmbedded } from '../dist/embedded/index.js'
import { listen } from '../dist/http/index.js'
import { defineJob, Spillway, skip } from '../dist/index.js'

const to = fileURLToPath(new URL('../docs/images/', import.meta.url))
const MOST_BYTES = 4 * 1024 * 1024
const LOOKS = {
  light: { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
}

class GatewayTimeout extends Error {
  name = 'GatewayTimeout'
}
class SmtpError extends Error {
  name = 'SmtpError'
}
class LockTimeout extends Error {
  name = 'LockTimeout'
}

/** Kinds of jobs: where they run, what they are given, how many, and how they end. */
const KINDS = [
  {
    ...{ kind: 'charge_card', queue: 'billing', times: 42 },
    payload: (n) => ({ order: 10_400 + n, amount: `${12 + n}.50`, currency: 'EUR', card: { last4: '4242' } }),
    run() {
      throw new GatewayTimeout('payment gateway did not answer within 30 s', { cause: new Error('other side closed') })
    },
  },
  {
    ...{ kind: 'send_receipt', queue: 'email', times: 17 },
    payload: (n) => ({ to: `customer-${n}@example.com`, template: 'receipt' }),
    run({ to }) {
      throw new SmtpError(`550 5.1.1 <${to}>: recipient address rejected`)
    },
  },
  {
    ...{ kind: 'deliver_webhook', queue: 'webhooks', times: 9 },
    payload: (n) => ({ event: 'order.paid', url: 'https://hooks.example.com/orders', attempt: n }),
    run: ({ url }) => skip('endpoint_gone', { url }),
  },
  {
    ...{ kind: 'close_ledger', queue: 'reports', times: 5 },
    payload: (n) => ({ month: `2026-0${1 + (n % 9)}` }),
    run() {
      throw new LockTimeout('canceling statement due to lock timeout')
    },
  },
  {
    ...{ kind: 'resize_image', queue: 'thumbnails', times: 60 },
    payload: (n) => ({ image: `s3://uploads/${n}.png`, width: 640 }),
    run: ({ width }) => ({ width }),
  },
]

const dir = mkdtempSync(join(process.getuid?.() === 0 ? '/tmp' : tmpdir(), 'spillway-screenshots-'))
chmodSync(dir, 0o755)
const database = await startEmbedded({ dir })
const spillway = new Spillway({ url: database.url, actor: 'kim' })
await spillway.migrate()
const jobs = KINDS.map(({ kind, queue, run }) =>
  defineJob({ kind, queue, maxAttempts: 2, backoff: () => 50 }).handle(async (payload) => run(payload)),
)
const worker = spillway.worker({
  queues: Object.fromEntries(KINDS.map(({ queue }) => [queue, { concurrency: 10 }])),
  jobs,
})
const server = await listen({ spillway, access: 'open', port: 0 })
const browser = await chromium.launch({
  executablePath: process.env.SPILLWAY_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
})
try {
  await happen()
  mkdirSync(to, { recursive: true })
  const paths = await screens()
  for (const [look, options] of Object.entries(LOOKS)) await shoot(look, options, paths)
} finally {
  await browser.close()
  await server.stop()
  await worker.stop()
  await spillway.close()
  await database.release()
  rmSync(dir, { recursive: true, force: true })
}

/** Lets it go wrong, and people do something about it. */
async function happen() {
  await worker.start()
  for (const { kind, queue, times, payload } of KINDS) {
    for (let n = 0; n < times; n++)
      await spillway.enqueue(kind, payload(n), { queue, maxAttempts: 2, tags: [n % 5 === 0 ? 'vip' : 'standard'] })
  }
  await spillway.enqueue('translate', { text: 'hello' }, { queue: 'reports' })
  const dying = KINDS.slice(0, 4).reduce((sum, { times }) => sum + times, 0)
  for (const end = Date.now() + 120_000; (await spillway.dlq.depth()) < dying; await sleep(200)) {
    if (Date.now() > end) throw new Error(`only ${await spillway.dlq.depth()} of ${dying} have died in two minutes`)
  }
  const [webhook] = (await spillway.dlq.groups({ queue: 'webhooks' })).items
  await spillway.dlq.ack({ queue: 'webhooks', cause: webhook.cause }, { reason: 'the customer was told' })
  await spillway.queues.pause('email', { reason: 'the mail server is being moved' })
  const tried = await spillway.dlq.retryMany({ queue: 'reports' }, { reason: 'the nightly vacuum is over' })
  await tried.done()
  const binned = await spillway.dlq.discardMany({ queue: 'email', tag: 'vip' }, { reason: 'these customers left' })
  await binned.done()
  await spillway.tokens.create({ name: 'ci', role: 'operator', queues: ['billing'] })
  await spillway.masking.add('card.last4')
  await spillway.enqueue('report', {}, { queue: 'nightly', delay: '3h' })
  await sleep(2_000)
}

async function screens() {
  const [charge] = (await spillway.dlq.list({ queue: 'billing' }, { limit: 1 })).items
  const [group] = (await spillway.dlq.groups({ queue: 'billing' })).items
  const [operation] = (await spillway.operations.list({ limit: 1 })).items
  return {
    overview: '/',
    'dead-letters': '/dlq',
    cause: `/dlq?queue=billing&cause=${encodeURIComponent(group.cause)}`,
    'dead-letter': `/dlq/${charge.id}`,
    jobs: '/jobs',
    job: `/jobs/${charge.id}`,
    held: '/held',
    operations: '/operations',
    operation: `/operations/${operation.id}`,
    queues: '/queues',
    queue: '/queues/billing',
    workers: '/workers',
    audit: '/audit',
    archive: '/archive',
    settings: '/settings',
  }
}

async function shoot(look, options, paths) {
  const inside = await browser.newContext({ ...options, reducedMotion: 'reduce' })
  const page = await inside.newPage()
  let bytes = 0
  const save = async (name) => {
    const path = join(to, `${name}-${look}.png`)
    await page.screenshot({ path, animations: 'disabled', scale: 'css' })
    bytes += statSync(path).size
  }
  for (const [name, path] of Object.entries(paths)) {
    await page.goto(`${server.url}${path}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('[role="status"][aria-label^="Loading"]').first().waitFor({ state: 'detached' })
    await page.waitForLoadState('load')
    await save(name)
    if (name !== 'cause') continue
    await page
      .getByRole('checkbox', { name: 'Select all rows of this page' })
      .check()
      .catch(() => undefined)
    const retry = page.getByRole('button', { name: 'Retry …' }).first()
    if ((await retry.count()) === 0) continue
    await retry.click()
    await page.getByText(/^Exactly/).waitFor()
    await save('retry')
  }
  await inside.close()
  console.log(`${look}: ${Math.round(bytes / 1024)} kB`)
  if (bytes > MOST_BYTES) throw new Error(`the pictures take ${bytes} bytes, more than ${MOST_BYTES}`)
}
