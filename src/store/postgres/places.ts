import type { JobState } from '../../job/states.js'
import type { BulkRequest, Operation } from '../store.js'
import type { SourceName } from './queries/sources.js'

/** What decides where bulk work looks. */
type Asked = Pick<BulkRequest, 'selector' | 'anywhere'> & Pick<Operation, 'action'>

const STATES: Readonly<Record<SourceName, readonly JobState[]>> = {
  dead: ['archived'],
  failed: ['failed'],
  terminal: ['failed', 'completed', 'cancelled'],
  bin: ['discarded'],
  held: ['quarantined', 'undecodable'],
  quarantined: ['quarantined'],
  undecodable: ['undecodable'],
}

/** Where an operation looks for its jobs, in this order. By a selector that names no ids it is one place. */
export function placesOf({
  action,
  selector: { state, ids, cause, error },
  anywhere,
}: Asked): readonly [SourceName, ...SourceName[]] {
  if (action === 'move') return ['failed']
  if (state === 'quarantined' || state === 'undecodable') return [state]
  if (ids === undefined || state !== undefined) return ['dead']
  if (action === 'purge' && anywhere) return ['dead', 'terminal', 'bin', 'held']
  // What was held did not die: it has no cause and no error.
  const isOfDead = cause !== undefined || error !== undefined
  return action === 'discard' && !isOfDead ? ['dead', 'held'] : ['dead']
}

/** The states that it takes jobs from. */
export function statesTaken(operation: Asked): JobState[] {
  return placesOf(operation).flatMap((place) => STATES[place])
}
