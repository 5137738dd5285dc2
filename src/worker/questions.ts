import { fingerprintOf } from '../job/fingerprint.js'
import type { HeldPayload, Verdict, WorkerSession } from '../store/store.js'
import type { Executor } from './executor.js'

/** Answers which undecodable payloads would decode with the code of this worker. One question after the other. */
export class Questions {
  private answering: Promise<void> | undefined
  private isStopped = false

  constructor(
    private readonly executor: Executor,
    private readonly report: (error: unknown) => void,
  ) {}

  /** Takes what there is to answer. Never throws: a question that fails is another worker's after 30 s. */
  answer(session: WorkerSession): void {
    this.answering ??= this.answerAll(session)
      .catch(this.report)
      .finally(() => {
        this.answering = undefined
      })
  }

  /** Takes no more. */
  stop(): void {
    this.isStopped = true
  }

  async idle(): Promise<void> {
    await this.answering
  }

  private async answerAll(session: WorkerSession): Promise<void> {
    while (!this.isStopped) {
      const question = await session.takeQuestion()
      if (question === undefined) return
      const verdicts: Verdict[] = []
      for (const held of question.payloads) {
        // Not answered, it is another worker's after a while.
        if (this.isStopped) return
        verdicts.push(await this.verdict(held))
        // Between two payloads, whose upcasts may be slow, the jobs of this worker go on.
        await new Promise((resolve) => setImmediate(resolve))
      }
      await session.answerQuestion(question.id, verdicts)
    }
  }

  private async verdict(held: HeldPayload): Promise<Verdict> {
    const about = { id: held.id, fingerprint: fingerprintOf(held.kind, held.payload) }
    const handler = this.executor.handlerOf(held)
    if (handler === undefined)
      return { ...about, ok: false, path: '', message: `this worker has no handler for ${held.kind}` }
    const decoded = await this.executor.decode(held, handler)
    return decoded.ok
      ? { ...about, ok: true, path: '', message: '' }
      : { ...about, ok: false, path: decoded.path, message: decoded.message }
  }
}
