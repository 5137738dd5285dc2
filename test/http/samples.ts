import { randomBytes, randomUUID } from 'node:crypto'
import type { Given } from 'spillway/testing'
import type { RouteName } from '../../src/http/index.js'
import type { Database } from '../../src/store/postgres/database.js'
import type { Api } from './api.js'

export interface Sample {
  readonly line: string
  readonly body?: object | string
}

interface Around {
  readonly given: Given
  readonly api: Api
  readonly db: Database
}

type Make = (around: Around) => Promise<Sample>

const dead = async ({ given }: { given: Given }) => (await given.job({ state: 'archived', queue: 'q' })).id
const on =
  (path: (id: string) => string, seed: Parameters<Given['job']>[0], body?: object): Make =>
  async ({ given }) => ({ line: path((await given.job(seed)).id), ...(body && { body }) })
const plain =
  (line: string, body?: object): Make =>
  async () => ({ line, ...(body && { body }) })

/** With something of everything that lists show lying there. */
const among = (line: string, body?: object): Make => {
  return async (around) => {
    await around.given.job({ ...archived, tags: ['t'] })
    await around.given.worker({ queues: ['q'], kinds: ['other@1'] })
    await operation(around, 'done')
    await around.api.client.tokens.create({ name: 'a' })
    await around.api.client.masking.add('a.b')
    const { id } = await around.api.client.enqueue('k', {}, { queue: 'q' })
    await around.api.client.jobs.kill(id)
    await around.api.client.webhooks.test(await hook(around))
    await around.given.job({ ...archived, tags: ['t'] })
    return { line, ...(body && { body }) }
  }
}

const archived = { state: 'archived', queue: 'q' } as const
const operation = async ({ given, api }: { given: Given; api: Api }, kind: 'running' | 'paused' | 'done') => {
  await given.jobs(2, archived)
  const { body } = await api('POST /dlq/bulk-discard', { body: { selector: { queue: 'q' } } })
  if (kind === 'paused') await api(`POST /operations/${body.id}/pause`)
  if (kind === 'done') await api.client.operations.run(body.id)
  return body.id as string
}

const asked = async ({ given }: { given: Given }) => {
  const callbackToken = `tok-${randomUUID()}`
  await given.job({
    state: 'waiting',
    callbackName: 'approval',
    callbackToken,
    waitsUntil: new Date(Date.now() + 60_000),
  })
  return callbackToken
}

/** A payload of which one job is held. */
const heldFingerprint = async ({ given }: { given: Given }) => {
  const fingerprint = randomBytes(16).toString('hex')
  await given.job({ state: 'quarantined', queue: 'q', heldReason: 'crash_bound', fingerprint })
  return fingerprint
}

const DAY = 86_400_000
/** A job in the cold archive. */
const cold = async ({ given, api }: { given: Given; api: Api }) => {
  await api.client.queues.set('q', { coldArchive: true })
  const old = new Date(Date.now() - 31 * DAY)
  const { id } = await given.job({ ...archived, dlqAt: old, retainFrom: old })
  await api.store.retain(1_000)
  return id
}
const amongCold =
  (line: string): Make =>
  async (around) => {
    await cold(around)
    return { line }
  }
/** A cause that a job has died of. */
const onCause =
  (verb: string, body: object = {}): Make =>
  async (around) => {
    await around.given.job({ ...archived, cause: 'cause-of-test' })
    return { line: `POST /dlq/causes/cause-of-test/${verb}`, body: { queue: 'q', ...body } }
  }

/** What a duty writes down when it sees it. */
const UNSERVED = `insert into spillway.unserved_kinds (queue, kind, version, waited_ms) values ('q', 'k', 1, 5000) on conflict do nothing`

/** A public address, which nothing is sent to here. */
const HOOK = 'https://93.184.216.34/dead'
const hook = async ({ api }: { api: Api }) => (await api.client.webhooks.create({ url: HOOK })).id

/** One request of each route that is accepted, and what has to lie there before. A new route needs one. */
export const SAMPLES: Readonly<Record<RouteName, Make>> = {
  enqueue: plain('POST /jobs', { kind: 'k', payload: { a: 1 }, tags: ['t'] }),
  listJobs: among('GET /jobs?state=archived&queue=q&limit=5'),
  countJobs: plain('GET /jobs/counts'),
  getJob: on((id) => `GET /jobs/${id}?include_payload=true`, archived),
  jobHistory: on((id) => `GET /jobs/${id}/history`, archived),
  jobWhy: on((id) => `GET /jobs/${id}/why`, archived),
  jobPayloads: async ({ given, api }) => {
    const { id } = await given.job(archived)
    await api.client.jobs.editPayload(id, { fixed: true })
    return { line: `GET /jobs/${id}/payloads` }
  },
  retryJob: on((id) => `POST /jobs/${id}/retry`, archived),
  cloneJob: on((id) => `POST /jobs/${id}/clone`, { state: 'completed' }, { priority: 3 }),
  cancelJob: on((id) => `POST /jobs/${id}/cancel`, {}),
  killJob: on((id) => `POST /jobs/${id}/kill`, {}, { reason: 'obsolete' }),
  promoteJob: on((id) => `POST /jobs/${id}/promote`, { state: 'scheduled' }),
  rescheduleJob: on((id) => `POST /jobs/${id}/reschedule`, {}, { run_at: '2031-01-01T00:00:00Z' }),
  editJob: on((id) => `PATCH /jobs/${id}`, {}, { priority: 3 }),
  editPayload: on((id) => `PUT /jobs/${id}/payload`, archived, { payload: { fixed: true } }),
  deleteJob: on((id) => `DELETE /jobs/${id}`, { state: 'completed' }),
  actOnJobs: async (around) => ({ line: 'POST /jobs/actions', body: { action: 'retry', ids: [await dead(around)] } }),
  bulkJobs: plain('POST /jobs/bulk', { action: 'retry', selector: { queue: 'q' }, dry_run: true }),

  listDlq: among('GET /dlq?queue=q&tag=t&limit=5'),
  dlqDepth: among('GET /dlq/depth'),
  dlqGroups: among('GET /dlq/groups'),
  dlqHistory: among('GET /dlq/history?by=minute'),
  getDlq: on((id) => `GET /dlq/${id}`, archived),
  retryDlq: on((id) => `POST /dlq/${id}/retry`, archived, { budget: { extra: 2 }, delay: '5m' }),
  discardDlq: on((id) => `POST /dlq/${id}/discard`, archived),
  moveDlq: on((id) => `POST /dlq/${id}/move`, { state: 'failed' }, { reason: 'audit' }),
  deleteDlq: on((id) => `DELETE /dlq/${id}`, archived),
  bulkRetryDlq: plain('POST /dlq/bulk-retry', { selector: { queue: 'q' }, canary: 2, overrides: { priority: 1 } }),
  bulkDiscardDlq: plain('POST /dlq/bulk-discard', { selector: { queue: 'q' } }),
  bulkPurgeDlq: plain('POST /dlq/bulk-purge', { selector: { queue: 'q' } }),
  bulkMoveDlq: plain('POST /dlq/bulk-move', { selector: { queue: 'q' } }),
  exportDlq: among('POST /dlq/export', { queue: 'q' }),
  importDlq: async (around) => {
    await dead(around)
    const [line = ''] = (await around.api('POST /dlq/export')).text.split('\n')
    await around.api('POST /dlq/bulk-purge', { body: { ids: [JSON.parse(line).id] } })
    return { line: 'POST /dlq/import', body: line }
  },

  dlqTriage: async (around) => {
    const id = await dead(around)
    await around.api.client.dlq.note(id, 'the card')
    return { line: `GET /dlq/${id}/triage` }
  },
  ackDlq: on((id) => `POST /dlq/${id}/ack`, archived),
  noteDlq: on((id) => `POST /dlq/${id}/note`, archived, { text: 'the card processor was down' }),
  muteDlq: on((id) => `POST /dlq/${id}/mute`, archived, { until: '7d' }),
  resolveDlq: on((id) => `POST /dlq/${id}/resolve`, archived, { link: 'https://example.com/pull/42' }),
  ackCause: onCause('ack'),
  noteCause: onCause('note', { text: 'the card processor was down' }),
  muteCause: onCause('mute', { until: '2100-01-01T00:00:00Z' }),
  resolveCause: onCause('resolve', { link: 'https://example.com/pull/42' }),
  unreviewedDlq: among('GET /dlq/unreviewed?queue=q'),
  expiringDlq: among('GET /dlq/expiring?within=90d'),
  cappedDlq: async (around) => {
    await around.api.client.queues.set('q', { dlqMaxRows: 100 })
    await dead(around)
    return { line: 'GET /dlq/capped' }
  },

  listArchive: amongCold('GET /archive?queue=q&q=failed&limit=5'),
  archiveMonths: amongCold('GET /archive/months'),
  exportArchive: amongCold('GET /archive/export?queue=q'),
  getArchived: async (around) => ({ line: `GET /archive/${await cold(around)}?include_payload=true` }),
  restoreArchived: async (around) => ({ line: `POST /archive/${await cold(around)}/restore` }),
  pruneArchive: async ({ db }) => {
    await db.script(`select spillway.ensure_cold_partitions('2020-01-01', '2020-01-31')`)
    return { line: 'POST /archive/prune', body: { month: '2020-01' } }
  },

  listDuties: plain('GET /duties'),
  pauseDuty: plain('POST /duties/retain_dlq/pause'),
  resumeDuty: plain('POST /duties/retain_dlq/resume'),
  listRings: plain('GET /rings'),
  setRing: plain('PATCH /rings/ready', { rotate_rows: 30_000, rotate_after: '20s' }),

  listOperations: among('GET /operations'),
  getOperation: async (around) => ({ line: `GET /operations/${await operation(around, 'done')}` }),
  operationRows: async (around) => ({ line: `GET /operations/${await operation(around, 'done')}/rows` }),
  setOperationRate: async (around) => ({
    line: `PATCH /operations/${await operation(around, 'running')}`,
    body: { rate: 50, max_waiting: 10 },
  }),
  pauseOperation: async (around) => ({ line: `POST /operations/${await operation(around, 'running')}/pause` }),
  resumeOperation: async (around) => ({ line: `POST /operations/${await operation(around, 'paused')}/resume` }),
  cancelOperation: async (around) => ({ line: `POST /operations/${await operation(around, 'running')}/cancel` }),
  undoOperation: async (around) => ({ line: `POST /operations/${await operation(around, 'done')}/undo` }),

  listQueues: among('GET /queues'),
  removedJobs: async ({ given, api }) => {
    await api.client.jobs.purge((await given.job({ state: 'completed', queue: 'q' })).id)
    return { line: 'GET /removed?queue=q' }
  },
  getQueue: plain('GET /queues/q'),
  unservedKinds: async ({ db }) => {
    await db.script(UNSERVED)
    return { line: 'GET /unserved' }
  },
  setQueue: plain('PATCH /queues/q', { dlq_retention: '90d', max_generations: 5 }),
  pauseQueue: plain('POST /queues/q/pause'),
  resumeQueue: plain('POST /queues/q/resume'),

  meta: plain('GET /meta'),
  getSession: plain('GET /session'),
  signIn: async ({ api }) => ({
    line: 'POST /session',
    body: { token: (await api.client.tokens.create({ name: 'ann' })).secret },
  }),
  signOut: plain('DELETE /session'),
  listWorkers: async ({ given }) => {
    await given.worker({ queues: ['q'], kinds: ['other@1'] })
    return { line: 'GET /workers' }
  },
  listAudit: async (around) => {
    await around.api('POST /queues/q/pause')
    return { line: 'GET /audit?action=pause_queue' }
  },

  events: plain('GET /events'),

  completeCallback: async (around) => ({
    line: `POST /callbacks/${await asked(around)}/complete`,
    body: { value: { ok: true } },
  }),
  failCallback: async (around) => ({
    line: `POST /callbacks/${await asked(around)}/fail`,
    body: { error: 'declined' },
  }),
  heartbeatCallback: async (around) => ({
    line: `POST /callbacks/${await asked(around)}/heartbeat`,
    body: { timeout: '5m' },
  }),

  eventRetention: plain('GET /events/retention'),
  setEventRetention: plain('PATCH /events/retention', { retention: '30d' }),
  listEvents: among('GET /events/log?limit=5'),

  listWebhooks: async (around) => {
    await hook(around)
    return { line: 'GET /webhooks' }
  },
  createWebhook: plain('POST /webhooks', { url: HOOK, types: ['died'], queues: ['q'], digest: '5m' }),
  getWebhook: async (around) => ({ line: `GET /webhooks/${await hook(around)}` }),
  updateWebhook: async (around) => ({
    line: `PATCH /webhooks/${await hook(around)}`,
    body: { paused: true, rotate_secret: true },
  }),
  deleteWebhook: async (around) => ({ line: `DELETE /webhooks/${await hook(around)}` }),
  testWebhook: async (around) => ({ line: `POST /webhooks/${await hook(around)}/test` }),
  listDeliveries: among('GET /webhooks/deliveries?state=pending'),
  redeliver: async (around) => {
    const { id } = await around.api.client.webhooks.test(await hook(around))
    return { line: `POST /webhooks/deliveries/${id}/redeliver` }
  },

  listQuarantine: async (around) => {
    await heldFingerprint(around)
    return { line: 'GET /quarantine' }
  },
  getQuarantined: async (around) => ({ line: `GET /quarantine/${await heldFingerprint(around)}?include_payload=true` }),
  releaseQuarantined: async (around) => ({ line: `POST /quarantine/${await heldFingerprint(around)}/release` }),
  listUndecodable: async ({ given }) => {
    await given.job({ state: 'undecodable', queue: 'q' })
    return { line: 'GET /undecodable?queue=q' }
  },
  checkUndecodable: on(() => 'POST /undecodable/check', { state: 'undecodable', queue: 'q' }, { queue: 'q' }),
  releaseUndecodable: on(
    () => 'POST /undecodable/release',
    { state: 'undecodable', queue: 'q' },
    { queue: 'q', force: true },
  ),
  releaseJob: on((id) => `POST /jobs/${id}/release`, { state: 'undecodable', queue: 'q' }, { force: true }),

  listTokens: among('GET /tokens'),
  createToken: plain('POST /tokens', {
    name: 'ci',
    role: 'operator',
    rights: ['purge'],
    queues: ['q'],
    expires_in: '30d',
  }),
  revokeToken: async ({ api }) => ({ line: `DELETE /tokens/${(await api.client.tokens.create({ name: 'old' })).id}` }),
  listMasks: among('GET /masking'),
  addMask: plain('POST /masking', { path: 'card.number' }),
  removeMask: async ({ api }) => {
    await api.client.masking.add('a.b')
    return { line: 'DELETE /masking/a.b' }
  },
}
