import type { Job, JobState } from 'spillway'
import { lapsed, made } from './operators.js'
import { convicted, FINGERPRINT } from './quarantine.js'
import { ahead, type World } from './world.js'

/** What an operator does, as a command and as a request. */
export interface Deed {
  readonly words: readonly string[]
  readonly line: string
  readonly body?: object | string
}

/** What is there before, and what is then done; without an id the answer names the job. */
export interface Step {
  readonly id?: string
  readonly before: Job | null
  readonly deed: Deed
}

type Steps = (world: World, from: JobState | null) => Promise<Step>

/** On a job in the state the row comes from. */
const on =
  (words: string, line: string, body?: object): Steps =>
  async (world, from) => {
    const before = await made(world, from as JobState, {})
    return { id: before.id, before, deed: about(before.id, words, line, body) }
  }

function about(id: string, words: string, line: string, body?: object): Deed {
  const fill = (text: string) => text.replace('ID', id)
  return { words: words.split(' ').map(fill), line: fill(line), ...(body && { body }) }
}

const LATER = ahead(3_600_000).toISOString()

/** Every row of the table that an operator can bring about, by its first state and event. */
export const FACES: Readonly<Record<string, Steps>> = {
  'new enqueue': async ({ queue }) => ({
    before: null,
    deed: {
      words: ['enqueue', 'test', '--queue', queue],
      line: 'POST /jobs',
      body: { kind: 'test', queue },
    },
  }),
  'new enqueue_later': async ({ queue }) => ({
    before: null,
    deed: {
      words: ['enqueue', 'test', '--queue', queue, '--delay', '1h'],
      line: 'POST /jobs',
      body: { kind: 'test', queue, delay: '1h' },
    },
  }),
  'new enqueue_parked': async (world) => {
    await convicted(world)
    return {
      before: null,
      deed: {
        words: ['enqueue', 'test', '--queue', world.queue, '--park'],
        line: 'POST /jobs',
        body: { kind: 'test', queue: world.queue, on_quarantine: 'park' },
      },
    }
  },
  'new import': async (world) => {
    const before = await made(world, 'archived', {})
    let line = ''
    for await (line of world.spillway.dlq.export({ queue: world.queue }));
    await world.spillway.dlq.purge(before.id)
    return { id: before.id, before, deed: { words: ['dlq', 'import', '-'], line: 'POST /dlq/import', body: line } }
  },
  'new restore': async (world) => {
    await world.spillway.queues.set(world.queue, { coldArchive: true })
    const before = await made(world, 'archived', lapsed('archived'))
    await world.keep()
    await world.reaches(before.id, 'gone')
    return { id: before.id, before, deed: about(before.id, 'archive restore ID', 'POST /archive/ID/restore') }
  },
  'scheduled promote': on('jobs promote ID', 'POST /jobs/ID/promote'),
  'scheduled reschedule': on(`jobs reschedule ID --run-at ${LATER}`, 'POST /jobs/ID/reschedule', { run_at: LATER }),
  'scheduled edit': on('jobs edit ID --priority 7', 'PATCH /jobs/ID', { priority: 7 }),
  'scheduled edit_payload': on('jobs edit ID --payload {"repaired":true}', 'PUT /jobs/ID/payload', {
    payload: { repaired: true },
  }),
  'available cancel': on('jobs cancel ID', 'POST /jobs/ID/cancel'),
  'scheduled kill': on('jobs kill ID', 'POST /jobs/ID/kill'),
  'failed move': on('dlq move ID', 'POST /dlq/ID/move'),
  'archived retry': on('dlq retry ID', 'POST /dlq/ID/retry'),
  'archived discard': on('dlq discard ID', 'POST /dlq/ID/discard'),
  'discarded undo': async (world) => {
    const before = await made(world, 'archived', {})
    const { operation = '' } = await world.spillway.dlq.discard(before.id)
    return { id: before.id, before, deed: about(operation, 'dlq undo ID', 'POST /operations/ID/undo') }
  },
  'available undo': async (world, from) => {
    const before = await made(world, 'archived', {})
    const later = from === 'scheduled' ? { runAt: ahead(3_600_000) } : {}
    const { operation = '' } = await world.spillway.dlq.retry(before.id, later)
    return { id: before.id, before, deed: about(operation, 'dlq undo ID', 'POST /operations/ID/undo') }
  },
  'quarantined release': async (world) => {
    await convicted(world)
    const held = { state: 'quarantined', heldReason: 'crash_limit', fingerprint: FINGERPRINT, payload: {} } as const
    const before = await world.job({ ...held, attempt: 1, crashAttempt: 3 })
    const deed = about(FINGERPRINT, 'quarantine release ID', 'POST /quarantine/ID/release')
    return { id: before.id, before, deed }
  },
  'undecodable release': on('undecodable release ID --force', 'POST /jobs/ID/release', { force: true }),
  'completed clone': on('jobs clone ID', 'POST /jobs/ID/clone'),
  'completed purge': on('jobs purge ID', 'DELETE /jobs/ID'),
}
