import { SpillwayError } from '../../job/errors.js'
import type { Act } from '../store.js'
import type { Database } from './database.js'
import { faultOf, translate } from './errors.js'
import { type ActParams, operateQueries } from './queries/operate.js'

/** How often an action follows a job that moves while it acts. */
export const MAX_TRIES = 5

/** Who, why, under which request, and whom to tell, as every action's statement takes them. */
export function actParams({ actor, reason, requestId }: Act, channel: string): ActParams {
  return [actor, reason ?? null, requestId ?? null, channel]
}

/**
 * A way to run statements of operators: again after making the day's partition, where that was missing; what is thrown
 * is always ours.
 */
export function performing(db: Database, schema: string): <T>(work: () => Promise<T>) => Promise<T> {
  const { partitions } = operateQueries(schema)
  return async (work) => {
    try {
      return await work().catch(async (error: unknown) => {
        if (faultOf(error) !== 'partition') throw error
        await db.run(partitions, [])
        return work()
      })
    } catch (error) {
      throw translate(error)
    }
  }
}

export function notFound(id: string): SpillwayError {
  return new SpillwayError(
    'not_found',
    `cannot find job ${id.slice(0, 40)}: it is in no state any more, or never was; ids are decimal numbers`,
  )
}

export function moving(id: string, event: string): SpillwayError {
  return new SpillwayError('job_moving', `cannot ${event} job ${id}: it moved ${MAX_TRIES} times meanwhile; try again`)
}
