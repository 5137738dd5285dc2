import type { Operation } from '../../api.js'
import { type Answer, ask, type Sent } from '../../server.js'
import type { DlqFilter } from '../dead-letters/search.js'

/** What can be done with many dead letters at once. */
export type BulkName = 'bulkRetryDlq' | 'bulkDiscardDlq' | 'bulkPurgeDlq' | 'bulkMoveDlq'

/** Which rows: those named, or everything that matches. */
export type Scope = { readonly ids: string[] } | { readonly selector: DlqFilter & { readonly all?: true } }

/** The rows that are chosen in a list. Where nothing but the text of an error narrows it, everything has to be said. */
export function scopeOf(
  chosen: { readonly ids: ReadonlySet<string>; readonly isWhole: boolean },
  filter: DlqFilter,
): Scope {
  if (!chosen.isWhole) return { ids: [...chosen.ids] }
  const { error: _, ...others } = filter
  return { selector: Object.keys(others).length === 0 ? { ...filter, all: true } : filter }
}

const LOOK_MS = 250

/** How it is done: a retry's budget, a rate, a reason. */
export type Terms = Omit<Sent<'bulkRetryDlq'>['body'], 'ids' | 'selector' | 'preview' | 'dry_run'>

/**
 * A dry run: counts, samples and refusals of what would be done. What is begun with its id moves exactly the rows it saw.
 */
export async function previewBulk(name: BulkName, scope: Scope, terms: Terms, signal: AbortSignal): Promise<Operation> {
  const begun = await ask(name, { body: { ...scope, ...terms, dry_run: true } as never }, { signal })
  let operation = operationOf(begun)
  while (operation.state === 'running') {
    await later(LOOK_MS, signal)
    operation = await ask('getOperation', { params: { id: operation.id } }, { signal })
  }
  return operation
}

/** Does what a dry run has shown, with the rows it saw and no others. */
export async function beginBulk(name: BulkName, preview: Operation, terms: Terms, key: string): Promise<Operation> {
  const begun = operationOf(await ask(name, { body: { ...terms, preview: preview.id } as never }, { key }))
  // It is bound to the rows of the dry run, and only counts them as it goes.
  return { ...begun, matched: preview.matched }
}

function operationOf(answer: Answer<BulkName>): Operation {
  if ('matched' in answer) return answer
  if (answer.operation !== undefined) return answer.operation
  throw new Error('the server did not say which operation it began')
}

function later(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}
