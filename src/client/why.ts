import type { Job } from '../job/job.js'
import type { JobState } from '../job/states.js'
import type { RegisteredWorker, StoredQueue } from '../store/store.js'

/** Where a job is, what keeps it there, and what would let it run. */
export interface Why {
  readonly id: string
  readonly state: JobState
  readonly summary: string
  /** Codes for programs, sentences for people. */
  readonly because: readonly { readonly code: string; readonly message: string }[]
  readonly wouldRun: readonly string[]
  /** When it is due, where it waits for a time. */
  readonly runAt: Date | null
}

const STALE_MS = 45_000

/** Reads the answer off the job, its queue and the workers; `now` is the clock. */
export function whyOf(job: Job, queue: StoredQueue, workers: readonly RegisteredWorker[], now: Date): Why {
  const say = (
    summary: string,
    because: Why['because'],
    wouldRun: readonly string[],
    runAt: Date | null = null,
  ): Why => ({
    ...{ id: job.id, state: job.state, summary, because, wouldRun, runAt },
  })
  const claim = [...held(job), ...blocks(job, queue, workers, now)]
  const { id } = job

  switch (job.state) {
    case 'available':
      return claim.length === 0
        ? say(
            'it waits for a free slot of a worker',
            [
              {
                code: 'waits_its_turn',
                message: `jobs of queue ${job.queue} with a lower priority number, or older, go first`,
              },
            ],
            ['nothing is needed; more concurrency or another worker makes it sooner'],
          )
        : say(
            'it can be claimed, and nobody claims it',
            claim.map(onlyWhy),
            claim.map(({ help }) => help),
          )
    case 'scheduled':
    case 'retryable': {
      const due = { code: 'not_due', message: `it is due at ${job.runAt.toISOString()}` }
      const summary = job.state === 'scheduled' ? 'it waits for its time' : 'it failed and waits for its next attempt'
      const help = [`its time comes, or \`spillway jobs promote ${id}\``, ...claim.map((it) => it.help)]
      return say(summary, [due, ...claim.map(onlyWhy)], help, job.runAt)
    }
    case 'running': {
      const since = job.startedAt === null ? '' : ` since ${job.startedAt.toISOString()}`
      return say('a worker runs it', [{ code: 'running', message: `a worker holds its lease${since}` }], [])
    }
    case 'waiting':
      return say(
        'its handler waits for an answer from outside',
        [{ code: 'waits_for_callback', message: 'it goes on when its callback is answered or times out' }],
        ['the callback is answered'],
      )
    case 'archived':
    case 'failed': {
      const reason = job.dlq?.reason ?? job.reason ?? 'unknown'
      const cause = { code: reason, message: `it was given up: ${reason}` }
      const passed = job.deadline !== null && job.deadline <= now
      const late = passed
        ? [{ code: 'deadline_passed', message: 'its deadline has passed; a fresh budget clears it' }]
        : []
      const capped =
        job.generation >= queue.policy.maxGenerations
          ? [{ code: 'generation_cap', message: `it was retried ${job.generation} times, and a retry needs force` }]
          : []
      const help = [
        job.state === 'archived' ? `\`spillway dlq retry ${id}\`` : `\`spillway jobs retry ${id}\``,
        ...claim.map((it) => `${it.help} (after the retry)`),
      ]
      return say('it was given up', [cause, ...late, ...capped], help)
    }
    case 'discarded':
      return say(
        'it lies in the bin',
        [{ code: 'discarded', message: 'an operator discarded it' }],
        ['undoing the operation that discarded it'],
      )
    case 'quarantined':
      return say(
        'it is held: it is suspected of killing workers',
        [{ code: job.reason ?? 'quarantined', message: `it was quarantined: ${job.reason ?? 'its fingerprint'}` }],
        ['releasing it from quarantine'],
      )
    case 'undecodable':
      return say(
        'it is held: its payload cannot be read by the code that met it',
        [{ code: job.reason ?? 'undecodable', message: 'no handler could read its payload or its version' }],
        ['a worker that can read it, or a repaired payload, and then a release'],
      )
    case 'completed':
    case 'cancelled':
      return say(
        job.state === 'completed' ? 'it is done' : 'it was cancelled',
        [{ code: job.state, message: job.reason ?? `it is ${job.state} and does not run again` }],
        [`\`spillway jobs clone ${id}\` makes a new job of it`],
      )
  }
}

interface Block {
  readonly code: string
  readonly message: string
  readonly help: string
}

/** What its fingerprint has to do with it. */
function held({ kind, blocked }: Job): Block[] {
  if (blocked === undefined) return []
  const { fingerprint, because } = blocked
  const help = `\`spillway quarantine release ${fingerprint}\``
  return because === 'quarantined'
    ? [
        {
          code: 'fingerprint_quarantined',
          message: `${kind} jobs with this payload are quarantined: they killed workers`,
          help,
        },
      ]
    : [
        {
          code: 'suspected',
          message: `${kind} jobs with this payload are suspected of killing workers, so it runs when a worker has nothing else to do`,
          help: 'a worker that has nothing else to do',
        },
      ]
}

/** What would keep a job of this kind and queue from being claimed. */
function blocks(job: Job, queue: StoredQueue, workers: readonly RegisteredWorker[], now: Date): Block[] {
  const found: Block[] = []
  if (queue.pausedAt !== null) {
    const by = queue.pausedBy === null ? '' : ` by ${queue.pausedBy}`
    const help = `\`spillway queues resume ${job.queue}\``
    found.push({ code: 'queue_paused', message: `queue ${job.queue} is paused${by}`, help })
  }
  const live = workers.filter(
    (it) =>
      it.state === 'running' && now.getTime() - it.heartbeatAt.getTime() < STALE_MS && it.queues.includes(job.queue),
  )
  const served = `${job.kind}@${job.version}`
  if (live.length === 0) {
    const help = `starting a worker that takes from queue ${job.queue}`
    found.push({ code: 'no_worker', message: `no live worker takes from queue ${job.queue}`, help })
  } else if (!live.some((it) => it.kinds.includes(served))) {
    const message = `none of the ${live.length} live workers of queue ${job.queue} serves ${job.kind} version ${job.version}`
    found.push({ code: 'not_served', message, help: `a worker with a handler for ${job.kind} version ${job.version}` })
  }
  return found
}

function onlyWhy({ code, message }: Block): { code: string; message: string } {
  return { code, message }
}
