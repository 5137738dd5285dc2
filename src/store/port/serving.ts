import type { Verdict } from './question.js'
import type { PublishedSchema } from './running.js'

/** A kind and version that has jobs in a queue which live workers take, and which none of these serves. */
export interface UnservedKind {
  readonly queue: string
  readonly kind: string
  readonly version: number
  /** So far; time in which nobody took from the queue does not count. */
  readonly waitedMs: number
  /** After so many its jobs are given up. */
  readonly limitMs: number
}

export interface Serving {
  /** What the newest registered worker publishes for the kind. Undefined: nobody serves it, or its schema cannot say. */
  publishedSchema(kind: string): Promise<PublishedSchema | undefined>
  /** Longest first. */
  unservedKinds(): Promise<readonly UnservedKind[]>
  /** Asks the workers of a kind and version; the answer is {@link workersAnswer}'s. @returns the question's id. */
  askWorkers(kind: string, version: number, ids: readonly string[]): Promise<string>
  /** Undefined: nobody has answered yet. */
  workersAnswer(question: string): Promise<readonly Verdict[] | undefined>
  withdrawQuestion(question: string): Promise<void>
}
