import type { Selector } from '../../job/selector.js'
import type { Operation, OperationPreview } from '../store.js'
import type { RetryTerms } from './queries/batch.js'
import type { OperationRow } from './queries/operations.js'

/** An operation with what only its runner needs. */
export interface StoredOperation extends Operation {
  readonly terms: RetryTerms
  readonly onConflict: 'fail' | 'skip' | 'replace'
  readonly anywhere: boolean
  readonly snapshot: string
  readonly cursor: { readonly at: string; readonly id: string }
  readonly nextInMs: number
  readonly canaryInMs: number | null
  readonly canaryPassed: boolean
  readonly abortAbove: number
  readonly holdMs: number
}

/** What an operation keeps of its request besides the selector. */
export interface StoredParams {
  readonly terms: RetryTerms
  readonly onConflict: 'fail' | 'skip' | 'replace'
  /** A purge by ids, of jobs wherever they are but live. */
  readonly anywhere?: boolean
}

/** Reads a row of `operations`. */
export function operationOf(row: OperationRow): StoredOperation {
  const text = (n: number) => row[n] ?? null
  const number = (n: number) => Number(row[n] ?? 0)
  const maybe = (n: number) => (row[n] == null ? null : Number(row[n]))
  const time = (n: number) => (row[n] == null ? null : new Date(Number(row[n])))
  const { terms, onConflict, anywhere = false } = JSON.parse(text(3) ?? '{}') as StoredParams
  return {
    id: text(0) as string,
    action: text(1) as Operation['action'],
    selector: selectorOf(text(2) ?? '{}'),
    terms,
    onConflict,
    anywhere,
    state: text(4) as Operation['state'],
    stateReason: text(5),
    dryRun: row[6] === 't',
    preview: previewOf(text(7)),
    snapshot: text(8) as string,
    phase: text(9) as string,
    cursor: { at: text(10) ?? '-infinity', id: text(11) as string },
    matched: number(12),
    succeeded: number(13),
    skipped: number(14),
    failed: number(15),
    newerLeftAlone: number(16),
    rate: maybe(17),
    nextInMs: number(18),
    maxWaiting: number(19),
    canary: maybe(20),
    canaryInMs: maybe(21),
    canaryPassed: row[22] === 't',
    abortAbove: number(23),
    holdMs: number(24),
    undoOf: text(25),
    createdBy: text(26) as string,
    reason: text(27),
    createdAt: time(28) as Date,
    startedAt: time(29),
    finishedAt: time(30),
    undoneBy: text(31),
    vanished: number(32),
  }
}

/** What everybody may see of an operation. */
export function shown(stored: StoredOperation): Operation {
  const { terms: _, onConflict: __, snapshot: ___, cursor: ____, nextInMs, canaryInMs, canaryPassed, ...rest } = stored
  const { abortAbove: _____, holdMs: ______, anywhere: _______, ...operation } = rest
  return operation
}

function selectorOf(text: string): Selector {
  const { since, until, ...rest } = JSON.parse(text) as Record<string, unknown>
  return {
    ...rest,
    ...(since === undefined ? {} : { since: new Date(since as string) }),
    ...(until === undefined ? {} : { until: new Date(until as string) }),
  } as Selector
}

interface StoredPreview {
  readonly looked_at: number
  readonly samples: readonly Record<string, string | null>[]
  readonly causes: OperationPreview['causes']
  readonly would_refuse: OperationPreview['wouldRefuse']
}

function previewOf(text: string | null): OperationPreview | null {
  if (text === null) return null
  const { looked_at, samples, causes, would_refuse } = JSON.parse(text) as StoredPreview
  return {
    lookedAt: looked_at,
    samples: samples.map((sample) => ({
      id: sample['id'] as string,
      kind: sample['kind'] as string,
      queue: sample['queue'] as string,
      diedAt: new Date(sample['died_at'] as string),
      cause: sample['cause'] ?? null,
      errorClass: sample['error_class'] ?? null,
      errorMessage: sample['error_message'] ?? null,
    })),
    causes,
    wouldRefuse: would_refuse,
  }
}
