import type { OnConflict } from '../../client/new-job.js'
import { isSpillwayError, SpillwayError } from '../../job/errors.js'
import type { Call } from '../call.js'
import { jobFor } from '../scope.js'

/**
 * A unique key is one of the whole store, so its holder may lie in a queue that the caller does not reach: then it is
 * neither named nor replaced. Who may replace holders tries without it first, and is told who it would be.
 */
export async function withinKeys<T>(
  call: Call,
  onConflict: OnConflict | undefined,
  act: (onConflict: OnConflict | undefined) => Promise<T>,
): Promise<T> {
  if (call.principal.queues === null) return act(onConflict)
  try {
    return await act(onConflict === 'replace' ? 'fail' : onConflict)
  } catch (error) {
    if (!isSpillwayError(error) || error.code !== 'unique_conflict') throw error
    const { holderId = '' } = error as { holderId?: string }
    if ((await jobFor(call, holderId, { payload: false })) === undefined) throw heldElsewhere(call)
    if (onConflict !== 'replace') throw error
    return act('replace')
  }
}

/** @throws `forbidden` for a token of some queues: many holders are not looked at one by one. */
export function refuseReplacing({ principal }: Call, onConflict: OnConflict | undefined): void {
  if (principal.queues === null || onConflict !== 'replace') return
  throw new SpillwayError(
    'forbidden',
    `cannot replace the holders of many unique keys as ${principal.actor}: they may lie in other queues than ${principal.queues.join(', ')}; retry those jobs one by one`,
  )
}

function heldElsewhere({ principal }: Call): SpillwayError {
  return new SpillwayError(
    'unique_conflict',
    `cannot take this unique key as ${principal.actor}: a job that is not in ${principal.queues?.join(', ')} holds it; choose on_conflict skip, or another key`,
  )
}
