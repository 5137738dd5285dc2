// The shop of the screenshots, on the night its payment gateway times out: what died is written as the product writes it,
// and what people did about it is done through the client. Only times are moved afterwards.
import { defineJob } from '../../dist/index.js'
import { Maintenance } from '../../dist/maintenance/maintenance.js'
import { Database } from '../../dist/store/postgres/database.js'
import { postgresStore } from '../../dist/store/postgres/store.js'
import { factories } from '../../dist/testing/index.js'
import { deaths, deathWithStory } from './deaths.mjs'

const MINUTE_MS = 60_000
const FIRST_ID = 480_000
const STALE_MS = 45_000
const DONE_WHEN_SHOWN = 48
const FEW_DUTIES = 10

/**
 * Fills an empty store, and keeps its workers heard.
 *
 * @returns what the screens are about: ids, a cause, a fingerprint; and how the shop closes.
 */
export async function openShop({ url, spillway }) {
  const now = Date.now()
  const store = postgresStore({ url })
  const db = new Database({ url, max: 4, prepare: 'auto', applicationName: 'screenshots' })
  const shop = { url, spillway, now, store, given: factories(db, 'spillway', store), sql: runner(db) }
  await shop.sql(`select setval('spillway.job_ids', ${FIRST_ID})`)
  await before(shop, 2_900, () => setPolicies(shop))
  await archiveOldOnes(shop)
  const { story, causes } = await letThemDie(shop)
  await letTheOthersLive(shop)
  const fingerprint = await holdSome(shop)
  await hireWorkers(shop)
  await letPeopleAct(shop, causes)
  const reader = await startReader(shop)
  const operation = await begin(shop, causes.gateway, { actor: 'kim' })
  await shop.sql(HEARD)
  const beats = [setInterval(() => void shop.sql(HEARD), 3_000), setInterval(() => void preview(shop), 300)]
  return {
    ...{ story, cause: causes.gateway, fingerprint, operation },
    async close() {
      beats.forEach(clearInterval)
      await reader.stop()
      await store.close()
      await db.close()
    },
  }
}

/** What goes on in other processes, and here nobody does: workers are heard, but for one, and duties succeed. */
const HEARD = `
  with heard as (update spillway.workers set heartbeat_at = now() - interval '3 seconds' where heartbeat_at > now() - interval '10 minutes')
  update spillway.duties set last_success_at = now() - interval '2 seconds'`

/** Statements without parameters; rows as lists of text. */
function runner(db) {
  return (text) => db.run({ text }, [])
}

/** Runs what dialogs ask for before they do something, and nothing else: the retry under way stays where it is. */
async function preview({ spillway, sql }) {
  const asked = await sql(`select id from spillway.operations where dry_run and state = 'running'`)
  for (const [id] of asked) await spillway.operations.run(id)
}

async function setPolicies({ spillway }) {
  const by = { actor: 'lee', reason: 'as agreed with finance' }
  await spillway.queues.set(
    'billing',
    { coldArchive: true, retention: { dlq: '30d', archive: '730d' }, crashLimit: 2 },
    by,
  )
  await spillway.queues.set('mail', { retention: { completed: '6h' }, dlqMaxRows: 50_000 }, { actor: 'kim' })
}

/** Dead letters of last month, which have outlived their retention. */
async function archiveOldOnes({ store, given, now }) {
  for (const [n, errorMessage] of ['card expired', 'issuer is not available', 'amount above the limit'].entries()) {
    const at = new Date(now - (33 + n) * 1_440 * MINUTE_MS)
    await given.jobs(6 + n, {
      ...{
        state: 'archived',
        queue: 'billing',
        kind: 'charge_card',
        version: 1,
        cause: 'declined',
        errorClass: 'CardDeclined',
      },
      ...{ errorMessage, createdAt: at, runAt: at, dlqAt: at, retainFrom: at, payload: { order: 96_100 + n } },
    })
  }
  await store.retain(1_000)
}

/** The dead, in the order in which they were put in, with counts by minute, hour and cause as if all day long. */
async function letThemDie({ given, sql, now }) {
  const all = deaths(now)
  const causes = {}
  const titles = new Map()
  for (const { name, title, seed } of all) {
    await given.job(seed)
    causes[name] = { queue: seed.queue, cause: seed.cause }
    titles.set(`${seed.queue} ${seed.cause}`, { ...causes[name], title })
  }
  const { id: story } = await given.job(deathWithStory(now).seed)
  for (const { queue, cause, title } of titles.values()) {
    await sql(
      `update spillway.dlq_causes set title = '${title.replaceAll("'", "''")}' where queue = '${queue}' and cause = '${cause}'`,
    )
  }
  await sql(`
    update spillway.dlq_causes c set first_at = d.first_at, last_at = d.last_at
      from (select queue, cause, min(dlq_at) as first_at, max(dlq_at) as last_at from spillway.dlq_entries group by 1, 2) d
     where d.queue = c.queue and d.cause = c.cause`)
  await sql(`delete from spillway.cause_deltas`)
  await sql(
    `insert into spillway.cause_deltas (queue, cause, n, at) select queue, cause, 1, dlq_at from spillway.dlq_entries`,
  )
  await sql(`
    insert into spillway.counters (queue, kind, reason, what, minute, n)
    select queue, kind, dlq_reason, 'arrived', date_trunc('minute', dlq_at), count(*)
      from spillway.dlq_entries group by 1, 2, 3, 5`)
  // Some of the day before were dealt with as they came.
  await sql(`
    insert into spillway.counters (queue, kind, reason, what, minute, n)
    select 'mail', 'send_receipt', case what when 'arrived' then 'attempts_exhausted' else 'retried' end, what,
           date_trunc('minute', now() - make_interval(mins => 100 + 95 * n + case what when 'arrived' then 40 else 0 end)), 6 + n % 5
      from generate_series(0, 12) as n, unnest(array['arrived', 'departed']) as what`)
  return { story, causes }
}

async function letTheOthersLive({ given, now }) {
  const ago = (minutes) => new Date(now - minutes * MINUTE_MS)
  const hence = (minutes) => ago(-minutes)
  const charge = { queue: 'billing', kind: 'charge_card', version: 2 }
  const ended = (kind, count, seed) =>
    given.jobs(count, { state: kind, finalizedAt: ago(3), startedAt: ago(3.1), ...seed })
  await ended('completed', 1_842, { ...charge, createdAt: ago(140), runAt: ago(140) })
  await ended('completed', 2_310, { queue: 'mail', kind: 'send_receipt', createdAt: ago(150), runAt: ago(150) })
  await ended('completed', 655, { queue: 'webhooks', kind: 'deliver_webhook', createdAt: ago(150), runAt: ago(150) })
  await ended('cancelled', 12, { queue: 'mail', kind: 'send_newsletter', createdAt: ago(200), runAt: ago(200) })
  for (const minutes of [14, 11, 9, 6, 4, 2]) {
    const at = { createdAt: ago(minutes), runAt: ago(minutes) }
    await given.jobs(56, { state: 'available', queue: 'images', kind: 'make_thumbnail', ...at })
    await given.jobs(19, { state: 'available', queue: 'mail', kind: 'send_receipt', ...at })
    await given.jobs(3, { state: 'retryable', ...charge, ...at, attempt: 1, maxAttempts: 3, dueAt: hence(minutes / 4) })
  }
  await given.jobs(1, { state: 'available', ...charge, uniqueKey: 'order-118502', createdAt: ago(1), runAt: ago(1) })
  await given.jobs(4, { state: 'scheduled', queue: 'reports', kind: 'close_day', dueAt: hence(340), runAt: hence(340) })
  await given.jobs(3, {
    state: 'scheduled',
    queue: 'mail',
    kind: 'send_newsletter',
    dueAt: hence(95),
    runAt: hence(95),
  })
}

/** A picture that kills whoever opens it, and receipts in a format that is no more. */
async function holdSome({ given, store, sql, now }) {
  const ago = (minutes) => new Date(now - minutes * MINUTE_MS)
  const payload = { image: 's3://shop-uploads/q7xk2m/panorama.tiff', sizes: [320, 640, 1280] }
  for (const [n, minutes] of [52, 47, 41].entries()) {
    const name = `images-a40f:${n + 1}`
    const registration = await given.worker({
      name,
      host: 'images-a40f',
      queues: ['images'],
      kinds: ['make_thumbnail@1'],
    })
    const at = { createdAt: ago(minutes + 1), runAt: ago(minutes + 1) }
    await given.job({ state: 'running', registration, queue: 'images', kind: 'make_thumbnail', payload, ...at })
    await sql(`delete from spillway.workers where registration = ${registration}`)
    await store.rescue(STALE_MS, 3)
    await sql(`update spillway.crashes set at = now() - interval '${minutes} minutes' where worker = '${name}'`)
  }
  await sql(`update spillway.quarantine set held_at = now() - interval '41 minutes'`)
  await sql(`update spillway.held_entries set held_at = now() - interval '41 minutes'`)
  const old = { state: 'undecodable', queue: 'mail', kind: 'send_receipt', heldReason: 'to: expected a text' }
  for (const [count, payload] of [
    [7, { to: 'ada@example.com', order: 104_220 }],
    [2, { to: null, order: 104_221 }],
  ]) {
    await given.jobs(count, { ...old, payload, heldAt: ago(610), createdAt: ago(612), runAt: ago(612) })
  }
  const [[fingerprint]] = await sql(`select fingerprint from spillway.quarantine limit 1`)
  return fingerprint
}

/** Workers of other machines, one of which was last heard a while ago. */
async function hireWorkers({ given, sql, now }) {
  const began = (hours) => ({ startedAt: new Date(now - hours * 60 * MINUTE_MS), heartbeatAt: new Date(now - 4_000) })
  const hire = (name, queues, kinds, concurrency, more) =>
    given.worker({
      name,
      host: name.split(':')[0],
      queues,
      kinds,
      concurrency,
      version: '0.1.0',
      ...began(31),
      ...more,
    })
  const charging = ['charge_card@2', 'refund_payment@1']
  const first = await hire('billing-7c4d:1', ['billing'], charging, 20)
  const second = await hire('billing-9b21:1', ['billing'], charging, 20, began(7.4))
  await hire('hooks-52aa:1', ['webhooks'], ['deliver_webhook@1'], 10)
  await hire('reports-0e6b:1', ['reports'], ['close_day@1'], 2)
  for (const [registration, count] of [
    [first, 17],
    [second, 20],
  ]) {
    const at = { createdAt: new Date(now - 61_000), runAt: new Date(now - 61_000), startedAt: new Date(now - 21_000) }
    await given.jobs(count, {
      state: 'running',
      registration,
      queue: 'billing',
      kind: 'charge_card',
      version: 2,
      ...at,
    })
  }
  await sql(`
    update spillway.workers set schemas = '{"charge_card":{"version":2,"schema":{"type":"object","properties":
      {"order":{"type":"integer"},"amount":{"type":"string"},"currency":{"type":"string"}},"required":["order","amount"]}}}'
     where queues = '{billing}'`)
}

/** What was done about it so far. */
async function letPeopleAct(shop, causes) {
  const { spillway, store, now } = shop
  const kim = (reason) => ({ actor: 'kim', reason })
  const lee = (reason) => ({ actor: 'lee', reason })
  const ago = (minutes) => new Date(now - minutes * MINUTE_MS)
  const done = async (begun) => (await begun).done()
  const { dlq } = spillway
  await before(shop, 1_500, () => spillway.masking.add('card.token', lee('nobody needs it')))
  await before(shop, 1_480, () =>
    spillway.tokens.create({ name: 'ci', rights: ['enqueue'], queues: ['images'], ...lee() }),
  )
  await before(shop, 1_470, () => spillway.tokens.create({ name: 'on call', role: 'operator', ...lee() }))
  const fix = 'https://git.example.com/shop/shop/pull/812'
  await before(shop, 610, () => dlq.resolve(causes.width, { ...lee('no size, no thumbnail'), link: fix }))
  await before(shop, 480, () => dlq.mute(causes.throttled, '3d', lee('the provider raises it on Monday')))
  await before(shop, 415, () =>
    dlq.note(causes.smtp, 'Typed wrong at the checkout: ask support before you retry.', lee()),
  )
  await before(shop, 400, () => dlq.ack(causes.ledger, kim('with finance, ticket 2291')))
  // What died after it was resolved has to be counted after it was resolved.
  const duties = new Maintenance(store)
  await duties.start()
  await counted(shop)
  await before(shop, 180, () => done(dlq.retryMany({ queue: 'reports' }, { ...kim(), dryRun: true })))
  const closed = { ...causes.gone, until: ago(200) }
  await before(shop, 176, () => done(dlq.discardMany(closed, kim('these shops have closed'))))
  const nightly = { queue: 'reports', since: ago(400) }
  await before(shop, 36, () => done(dlq.retryMany(nightly, kim('the vacuum is over'))))
  await before(shop, 31, () => spillway.queues.pause('mail', lee('the mail server is being moved')))
  await duties.stop()
  await addWebhooks(shop)
  await shop.given.worker({
    ...{ name: 'images-3d18:1', host: 'images-3d18', queues: ['images'], kinds: ['make_thumbnail@1'], concurrency: 8 },
    ...{ version: '0.1.0', startedAt: ago(1_870), heartbeatAt: ago(14) },
  })
}

/** Does something, and says that it was so many minutes ago. */
async function before({ sql }, minutes, act) {
  const one = async (text) => (await sql(text))[0][0]
  const last = (table) => one(`select coalesce(max(id), 0) from spillway.${table}`)
  const [audited, begun, at] = [
    await last('audit_log'),
    await last('operations'),
    await one('select clock_timestamp()'),
  ]
  await act()
  const earlier = (...columns) => columns.map((it) => `${it} = ${it} - interval '${minutes} minutes'`).join(', ')
  await sql(`update spillway.audit_log set ${earlier('at')} where id > ${audited}`)
  await sql(`
    update spillway.operations set ${earlier('created_at', 'started_at', 'finished_at')} where id > ${begun}`)
  await sql(`
    update spillway.cause_triage set ${earlier('acknowledged_at', 'noted_at', 'muted_at', 'resolved_at', 'updated_at')} where updated_at >= '${at}'`)
  await sql(`update spillway.queues set ${earlier('paused_at')} where paused_at >= '${at}'`)
  await sql(`
    update spillway.counters set ${earlier('minute')} where what = 'departed' and minute >= date_trunc('minute', timestamptz '${at}')`)
}

async function addWebhooks({ store, sql }) {
  const settings = { queues: null, kinds: null, reasons: null, digestMs: null, digestEvents: 10 }
  const add = (url, description, more) =>
    store.createWebhook({ ...settings, url, description, types: null, ...more }, `whsec_${'0'.repeat(40)}`, {
      actor: 'lee',
    })
  await add('https://chat.example.com/hooks/ops', 'channel of whoever is on call', {
    types: ['died', 'quarantined'],
    digestMs: 5 * MINUTE_MS,
  })
  await add('https://pager.example.com/v2/enqueue', 'pages for billing', { types: ['died'], queues: ['billing'] })
  await sql(`update spillway.webhooks set failures = 3, last_error = 'answered 503' where url like '%pager%'`)
}

/** Waits until every death is counted under its cause, and the leader has said what succeeded. */
async function counted({ sql }) {
  for (const end = Date.now() + 30_000; ; await new Promise((go) => setTimeout(go, 200))) {
    const [[unfolded, succeeded]] = await sql(`
      select (select count(*) from spillway.cause_deltas), (select count(last_success_at) from spillway.duties)`)
    if (unfolded === '0' && Number(succeeded) >= FEW_DUTIES) return
    if (Date.now() > end) throw new Error(`${unfolded} deaths are not counted and ${succeeded} duties done after 30 s`)
  }
}

/** A worker that is really there, of the queue that is paused: it is asked what it could read. */
async function startReader({ spillway, sql }) {
  const isText = (value) =>
    typeof value?.to === 'string' ? { value } : { issues: [{ message: 'expected a text', path: ['to'] }] }
  const schema = { '~standard': { version: 1, vendor: 'shop', validate: isText } }
  const receipts = defineJob({ kind: 'send_receipt', queue: 'mail', schema })
  const news = defineJob({ kind: 'send_newsletter', queue: 'mail' })
  const jobs = [receipts, news].map((it) => it.handle(() => undefined))
  const worker = spillway.worker({
    name: 'mail-7f9c:1',
    queues: { mail: { concurrency: 10 } },
    jobs,
    maintenance: false,
  })
  await worker.start()
  await sql(`
    update spillway.workers set host = 'mail-7f9c', pid = 1, started_at = now() - interval '31 hours' where name = 'mail-7f9c:1'`)
  return worker
}

/** A retry of everything the gateway has killed, left where it is when a third is done: nobody runs it on. */
async function begin({ spillway, sql }, { queue, cause }, by) {
  await sql(`update spillway.dlq_entries set unique_key = 'order-118502' where id in (
    select id from spillway.dlq_entries where cause = '${cause}' and unique_key is null order by dlq_at limit 2)`)
  const options = { ...by, rate: 25, reason: 'the gateway answers again' }
  const retry = await spillway.dlq.retryMany({ queue, cause }, options)
  const leave = new AbortController()
  await retry.done({
    signal: leave.signal,
    onProgress: ({ succeeded }) => succeeded >= DONE_WHEN_SHOWN && leave.abort(),
  })
  await sql(`update spillway.operations set rate = 2 where id = ${retry.id}`)
  return retry.id
}
