// What dies in the shop of the screenshots: seven causes, each with its error, its stack, its payloads and its times. The
// same with every run, but for the time it ends at.
import { causeOfDeath } from '../../dist/job/cause.js'
import { randomFrom } from './random.mjs'

const MINUTE_MS = 60_000

const FRAMES_OF_NODE = ['process.processTicksAndRejections (node:internal/process/task_queues:105:5)']

/** `kind` dies of `error`; `bursts` says when: `[from, to, how many]`, in minutes ago. */
const CAUSES = {
  gateway: {
    ...{ queue: 'billing', kind: 'charge_card', version: 2, maxAttempts: 3, ranMs: 30_000 },
    workers: ['billing-7c4d:1', 'billing-9b21:1'],
    bursts: [
      [74, 45, 31],
      [45, 20, 74],
      [20, 0.4, 131],
    ],
    error: () => ({
      ...{ name: 'GatewayTimeout', code: 'ETIMEDOUT', message: 'payment gateway did not answer within 30 s' },
      frames: [
        'chargeCard (/srv/app/dist/jobs/charge.js:41:11)',
        'Gateway.post (/srv/app/dist/payments/gateway.js:88:19)',
        'async fetch (/srv/app/node_modules/undici/index.js:112:13)',
      ],
      cause: {
        ...{ name: 'SocketError', code: 'UND_ERR_SOCKET', message: 'other side closed' },
        frames: [
          'TLSSocket.onSocketEnd (/srv/app/node_modules/undici/lib/dispatcher/client-h1.js:886:22)',
          'endReadableNT (node:internal/streams/readable:1698:12)',
        ],
      },
    }),
    payload: (random, n) => ({
      ...{ order: 118_400 + n, customer: `cus_${random.letters(8)}`, amount: random.price(), currency: 'EUR' },
      card: { brand: random.of(['visa', 'mastercard']), last4: random.digits(4), token: `tok_${random.letters(12)}` },
    }),
    tags: (random) => [random.of(['web', 'web', 'web', 'app']), ...(random.next() < 0.12 ? ['vip'] : [])],
  },
  smtp: {
    ...{ queue: 'mail', kind: 'send_receipt', version: 1, maxAttempts: 5, ranMs: 640 },
    workers: ['mail-7f9c:1'],
    bursts: [
      [1_380, 720, 14],
      [720, 90, 19],
      [90, 8, 4],
    ],
    error: (random) => ({
      ...{ name: 'SmtpError', code: 'EENVELOPE' },
      message: `550 5.1.1 <${random.of(NAMES)}.${random.letters(4)}@example.com>: recipient address rejected`,
      frames: [
        'sendReceipt (/srv/app/dist/jobs/receipt.js:27:9)',
        'SMTPConnection._formatError (/srv/app/node_modules/nodemailer/lib/smtp-connection/index.js:809:19)',
      ],
    }),
    payload: (random, n) => ({ to: `${random.of(NAMES)}@example.com`, order: 117_900 + n, template: 'receipt' }),
    tags: () => ['receipt'],
  },
  throttled: {
    ...{ queue: 'mail', kind: 'send_newsletter', version: 1, maxAttempts: 5, ranMs: 180 },
    workers: ['mail-7f9c:1'],
    bursts: [
      [1_260, 1_200, 22],
      [540, 500, 11],
    ],
    error: () => ({
      ...{ name: 'RateLimited', code: null, message: 'the provider answered 429: 10000 messages an hour are sent' },
      frames: ['sendNewsletter (/srv/app/dist/jobs/newsletter.js:52:13)'],
    }),
    payload: (_, n) => ({ list: 'autumn-sale', subscriber: 50_210 + n }),
    tags: () => ['newsletter'],
  },
  width: {
    ...{ queue: 'images', kind: 'make_thumbnail', version: 1, maxAttempts: 3, ranMs: 95 },
    workers: ['images-3d18:1', 'images-a40f:1'],
    bursts: [
      [1_410, 1_100, 21],
      [38, 6, 9],
    ],
    error: () => ({
      ...{ name: 'TypeError', code: null, message: "Cannot read properties of undefined (reading 'width')" },
      frames: ['sizeOf (/srv/app/dist/images/size.js:14:27)', 'makeThumbnail (/srv/app/dist/jobs/thumbnail.js:33:18)'],
    }),
    payload: (random, n) => ({ image: `s3://shop-uploads/${random.letters(6)}/${n}.heic`, sizes: [320, 640, 1280] }),
    tags: () => ['upload'],
  },
  gone: {
    ...{ queue: 'webhooks', kind: 'deliver_webhook', version: 1, maxAttempts: 8, ranMs: 310 },
    workers: ['hooks-52aa:1'],
    bursts: [
      [1_150, 200, 13],
      [200, 25, 5],
    ],
    skipped: { code: 'endpoint_gone', details: { status: 410 } },
    payload: (random, n) => ({
      event: 'order.paid',
      url: `https://hooks.example.com/${random.letters(5)}`,
      order: 118_020 + n,
    }),
    tags: () => ['partner'],
  },
  ledger: {
    ...{ queue: 'billing', kind: 'refund_payment', version: 1, maxAttempts: 3, ranMs: 210 },
    workers: ['billing-7c4d:1'],
    bursts: [[1_190, 160, 12]],
    error: (random) => ({
      ...{
        name: 'LedgerMismatch',
        code: 'LEDGER',
        message: `refund of ${random.price()} exceeds what was paid for order ${random.digits(6)}`,
      },
      frames: [
        'assertCovered (/srv/app/dist/ledger/balance.js:61:13)',
        'refundPayment (/srv/app/dist/jobs/refund.js:19:7)',
      ],
    }),
    payload: (random, n) => ({ order: 116_300 + n, amount: random.price(), currency: 'EUR', approved_by: 'support' }),
    tags: () => ['refund'],
  },
  late: {
    ...{ queue: 'reports', kind: 'close_day', version: 1, maxAttempts: 5, ranMs: 60_000 },
    workers: ['reports-0e6b:1'],
    bursts: [
      [470, 466, 3],
      [320, 318, 1],
    ],
    reason: 'deadline_exceeded',
    error: () => ({
      ...{ name: 'LockTimeout', code: '55P03', message: 'canceling statement due to lock timeout' },
      frames: ['closeDay (/srv/app/dist/jobs/close-day.js:74:5)'],
    }),
    payload: (random, n) => ({ day: `2026-10-0${1 + (n % 9)}`, ledger: random.of(['eu', 'us', 'uk']) }),
    tags: () => ['nightly'],
  },
}

const NAMES = ['ada', 'grace', 'edsger', 'barbara', 'donald', 'radia', 'alan', 'margaret', 'tony', 'frances']

/** Every death as the seed of a job, with the name its cause has here and the title it has in lists; oldest first. */
export function deaths(now) {
  const random = randomFrom(7)
  const all = Object.entries(CAUSES).flatMap(([name, cause]) => {
    const times = cause.bursts.flatMap(([from, to, count]) =>
      Array.from({ length: count }, (_, n) => from + ((to - from) * (n + 0.2 + 0.6 * random.next())) / count),
    )
    return times.map((minutes, n) => ({ name, ...deathOf(cause, now - minutes * MINUTE_MS, n, random) }))
  })
  return all.sort((a, b) => a.seed.createdAt - b.seed.createdAt)
}

function deathOf(cause, diedMs, n, random) {
  const {
    queue,
    kind,
    version,
    maxAttempts,
    workers,
    reason = cause.skipped ? 'skipped' : 'attempts_exhausted',
  } = cause
  const attempts = cause.skipped || reason === 'deadline_exceeded' ? 1 + (n % 2) : maxAttempts
  const error = cause.error?.(random)
  const history = Array.from({ length: attempts }, (_, attempt) => {
    const isLast = attempt === attempts - 1
    // Backoff doubles: the last attempt ended when it died.
    const at = diedMs - (2 ** (attempts - 1 - attempt) - 1) * 70_000
    const ran = { at, ranMs: cause.ranMs * (0.9 + 0.2 * random.next()), attempt, worker: random.of(workers) }
    if (isLast && cause.skipped) return entry(ran, { type: 'skipped', ...cause.skipped })
    if (isLast && reason === 'deadline_exceeded') return failed(ran, error, 'deadline')
    return failed(ran, error ?? UNREACHED)
  })
  const { title, cause: id, ...columns } = causeOfDeath(kind, reason, history.at(-1))
  const createdAt = new Date(history[0].startedAt.getTime() - 4_000 - 30_000 * random.next())
  const seed = {
    ...{ state: 'archived', queue, kind, version, maxAttempts, attempt: attempts, dlqReason: reason, cause: id },
    ...{ createdAt, runAt: createdAt, dlqAt: new Date(diedMs), retainFrom: new Date(diedMs) },
    ...{ startedAt: history.at(-1).startedAt, tags: cause.tags(random), payload: cause.payload(random, n), history },
    ...columns,
  }
  return { title, seed }
}

const UNREACHED = { name: 'FetchError', code: 'ECONNREFUSED', message: 'connection refused', frames: [] }

function entry({ at, ranMs, attempt, worker, generation = 0 }, rest) {
  const startedAt = new Date(at - Math.round(ranMs))
  return { at: new Date(at), startedAt, generation, attempt, leaseId: null, worker, ...rest }
}

/** An attempt that threw. */
function failed(ran, { name, message, code, frames, cause }, type = 'error') {
  const thrown = ({ cause: _, frames: at, ...rest }) => ({ ...rest, stack: stackOf(rest.name, rest.message, at) })
  return entry(ran, {
    ...{ type, name, message, code, stack: stackOf(name, message, frames) },
    ...{ cause: cause === undefined ? [] : [thrown(cause)], truncated: false },
  })
}

function stackOf(name, message, frames) {
  return [`${name}: ${message}`, ...[...frames, ...FRAMES_OF_NODE].map((it) => `    at ${it}`)].join('\n')
}

/** The one that is looked at closely: it was given up on, repaired, sent back by hand, and has died again. */
export function deathWithStory(now) {
  const { gateway } = CAUSES
  const error = gateway.error()
  const at = (minutes) => now - minutes * MINUTE_MS
  const ran = (minutes, attempt, generation = 0) => ({
    ...{ at: at(minutes), ranMs: 30_012, attempt, generation, worker: gateway.workers[attempt % 2] },
  })
  const byHand = (minutes, rest, generation = 0) => ({
    ...{ at: new Date(at(minutes)), startedAt: null, generation, attempt: 0, leaseId: null, worker: null, ...rest },
  })
  const history = [
    failed(ran(68, 0), error),
    entry(ran(64, 1), { type: 'crash', lastHeartbeatAt: new Date(at(65)) }),
    failed(ran(61, 1), error),
    failed(ran(55, 2), error),
    byHand(40, { type: 'edited', by: 'lee', why: 'the amount is in cents', changed: ['payload'], version: 2 }),
    byHand(36, {
      ...{ type: 'retried', by: 'kim', why: 'the gateway says it is back', operation: '3' },
      ...{ reason: 'attempts_exhausted', dlqAt: new Date(at(55)), originalRunLease: 4 },
    }),
    failed(ran(35, 0, 1), error),
    failed(ran(29, 1, 1), error),
    failed(ran(12, 2, 1), error),
  ]
  const { title, cause, ...columns } = causeOfDeath('charge_card', 'attempts_exhausted', history.at(-1))
  return {
    title,
    seed: {
      ...{
        state: 'archived',
        queue: 'billing',
        kind: 'charge_card',
        version: 2,
        maxAttempts: 3,
        attempt: 3,
        crashAttempt: 1,
      },
      ...{
        dlqReason: 'attempts_exhausted',
        cause,
        history,
        generation: 1,
        uniqueKey: 'order-118412',
        tags: ['web', 'vip'],
      },
      ...{
        createdAt: new Date(at(69)),
        runAt: new Date(at(69)),
        dlqAt: new Date(at(12)),
        retainFrom: new Date(at(12)),
      },
      startedAt: history.at(-1).startedAt,
      payload: {
        ...{ order: 118_412, customer: 'cus_k3v9q2xd', amount: '129.90', currency: 'EUR' },
        card: { brand: 'visa', last4: '4242', token: 'tok_7hq2mzk04r1s' },
        items: [
          { sku: 'LMP-114', name: 'Desk lamp', quantity: 1, price: '89.90' },
          { sku: 'BLB-027', name: 'Bulb, warm', quantity: 4, price: '10.00' },
        ],
      },
      ...columns,
    },
  }
}
