import type { Acted } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { because } from '../../components/action/reason-field.js'
import { given } from '../../components/search-params.js'
import { type Change, changeOf } from '../actions/change.js'
import type { ActionName } from './actions.js'

export type Budget = 'fresh' | 'keep' | 'one'

/** What the dialog of an action asks for; which of it an action has, {@link FIELDS} says. */
export interface ActionFields {
  readonly reason: string
  readonly budget: Budget
  /** Of a reschedule: ISO text, or a length of time as `5m`. */
  readonly when: string
  readonly queue: string
  readonly priority: string
  readonly isForced: boolean
}

export const NO_FIELDS: ActionFields = {
  ...{ reason: '', budget: 'keep', when: '', queue: '', priority: '', isForced: false },
}

/** The fields of an action, besides its reason. */
export const FIELDS: Readonly<Record<ActionName, readonly (keyof ActionFields)[]>> = {
  ...{ retry: ['budget'], release: ['isForced'], promote: [], reschedule: ['when'], edit: ['queue', 'priority'] },
  ...{ clone: [], cancel: [], kill: [], purge: [] },
}

/** The request that an action on one job is. */
export function changeOfAction(name: ActionName, id: string, fields: ActionFields): Change<Acted> {
  const params = { id }
  const body = because(fields.reason)
  const why = flag('reason', body.reason)
  const cli = (...words: readonly string[]) => commandOf('jobs', name, id, ...words, ...why)
  switch (name) {
    case 'retry': {
      const budget = fields.budget === 'one' ? { extra: 1 } : fields.budget
      const flags = flag('budget', fields.budget === 'one' ? 'extra:1' : fields.budget)
      return changeOf('retryJob', { params, body: { ...body, budget } }, cli(...flags))
    }
    case 'release': {
      const force = fields.isForced ? { force: true } : {}
      const line = fields.isForced
        ? commandOf('undecodable', 'release', id, '--force', ...why)
        : commandOf('quarantine', 'release', '--id', id, ...why)
      return changeOf('releaseJob', { params, body: { ...body, ...force } }, line)
    }
    case 'promote':
      return changeOf('promoteJob', { params, body }, cli())
    case 'reschedule': {
      const when = fields.when.trim()
      const due = when.includes('T') ? { run_at: when } : { delay: when }
      return changeOf('rescheduleJob', { params, body: { ...body, ...due } }, cli(...flag('run-at', when)))
    }
    case 'edit': {
      const queue = fields.queue.trim()
      const priority = fields.priority.trim() === '' ? undefined : Number(fields.priority)
      const flags = [...flag('queue', queue), ...flag('priority', priority)]
      return changeOf('editJob', { params, body: { ...body, ...given({ queue, priority }) } }, cli(...flags))
    }
    case 'clone':
      return changeOf('cloneJob', { params, body }, cli())
    case 'cancel':
      return changeOf('cancelJob', { params, body }, cli())
    case 'kill':
      return changeOf('killJob', { params, body }, cli())
    case 'purge':
      return changeOf('deleteJob', { params, query: body }, cli())
  }
}
