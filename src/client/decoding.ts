import { decodeJob } from '../job/decode.js'
import { type JobHandler, type JobSpec, kindsOf } from '../job/definition.js'
import { type Duration, parseDuration } from '../job/duration.js'
import { fingerprintOf } from '../job/fingerprint.js'
import type { HeldPayload, Inspecting, Serving, Verdict } from '../store/store.js'

export interface DecodingOptions {
  /** The code that is asked: definitions or handlers. Default: a worker that serves the kind. */
  readonly jobs?: readonly (JobSpec | JobHandler)[] | undefined
  /** How long a worker may take to answer for some hundred payloads. Default: 10 s. */
  readonly within?: Duration | undefined
}

/** What code says of held payloads, by id; one that is missing is unknown: nobody could be asked. */
export interface Decoding {
  ask(payloads: readonly HeldPayload[]): Promise<ReadonlyMap<string, Verdict>>
}

const FIRST_LOOK_MS = 20
const LONGEST_LOOK_MS = 250

export function decoding(store: Serving & Inspecting, { jobs, within = 10_000 }: DecodingOptions): Decoding {
  const withinMs = parseDuration(within, 'within')
  return jobs === undefined ? new ByWorkers(store, withinMs) : new Here(jobs, withinMs)
}

/** With code of this process. */
class Here implements Decoding {
  private readonly definitions: ReadonlyMap<string, JobSpec>

  constructor(
    jobs: readonly (JobSpec | JobHandler)[],
    private readonly withinMs: number,
  ) {
    const specs = jobs.map((job) => ('definition' in job ? job.definition : job))
    this.definitions = new Map(specs.flatMap((spec) => kindsOf(spec).map((kind) => [kind, spec] as const)))
  }

  async ask(payloads: readonly HeldPayload[]): Promise<ReadonlyMap<string, Verdict>> {
    const verdicts = new Map<string, Verdict>()
    for (const held of payloads) {
      const definition = this.definitions.get(held.kind)
      if (definition === undefined) continue
      const decoded = decodeJob(held, definition)
      const late = { ok: false, path: '', message: `its schema did not answer within ${this.withinMs} ms` } as const
      const answer = decoded instanceof Promise ? ((await before(this.withinMs, decoded)) ?? late) : decoded
      const { path, message } = answer.ok ? { path: '', message: '' } : answer
      verdicts.set(held.id, {
        id: held.id,
        fingerprint: fingerprintOf(held.kind, held.payload),
        ok: answer.ok,
        path,
        message,
      })
    }
    return verdicts
  }
}

/** With the code of whoever serves the kind and version now. */
class ByWorkers implements Decoding {
  private serves: ReadonlySet<string> | undefined
  /** Asked, and nobody answered: not asked again. */
  private readonly silent = new Set<string>()

  constructor(
    private readonly store: Serving & Inspecting,
    private readonly withinMs: number,
  ) {}

  async ask(payloads: readonly HeldPayload[]): Promise<ReadonlyMap<string, Verdict>> {
    const groups = new Map<string, HeldPayload[]>()
    for (const held of payloads) {
      const pair = `${held.kind}@${held.version}`
      groups.set(pair, [...(groups.get(pair) ?? []), held])
    }
    const answers = await Promise.all([...groups].map(([pair, held]) => this.askFor(pair, held)))
    return new Map(answers.flat().map((verdict) => [verdict.id, verdict]))
  }

  private async askFor(pair: string, held: readonly HeldPayload[]): Promise<readonly Verdict[]> {
    this.serves ??= await this.served()
    const [first] = held
    if (first === undefined || this.silent.has(pair) || !this.serves.has(pair)) return []
    const ids = held.map(({ id }) => id)
    const question = await this.store.askWorkers(first.kind, first.version, ids)
    try {
      const answer = await this.answerTo(question)
      if (answer === undefined) this.silent.add(pair)
      return answer ?? []
    } finally {
      await this.store.withdrawQuestion(question)
    }
  }

  private async served(): Promise<ReadonlySet<string>> {
    const workers = await this.store.listWorkers()
    return new Set(workers.filter(({ state }) => state === 'running').flatMap(({ kinds }) => kinds))
  }

  private async answerTo(question: string): Promise<readonly Verdict[] | undefined> {
    const until = performance.now() + this.withinMs
    for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_LOOK_MS)) {
      const answer = await this.store.workersAnswer(question)
      if (answer !== undefined || performance.now() > until) return answer
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

async function before<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
