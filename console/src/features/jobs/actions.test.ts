import { expect, it } from 'vitest'
import { statesAccepting } from '../../../../src/job/lifecycle.js'
import { type ActionName, actionsFor, BULK_ACTIONS, bulkActionsFor, JOB_ACTIONS } from './actions.js'
import { STATES } from './search.js'

it.each(Object.keys(JOB_ACTIONS) as ActionName[])('%s is offered exactly where the lifecycle accepts it', (name) => {
  const offered = STATES.filter((state) => actionsFor(state, () => true).includes(name))

  expect(offered.toSorted()).toEqual(statesAccepting(name).toSorted())
})

it.each(Object.keys(BULK_ACTIONS) as (keyof typeof BULK_ACTIONS)[])(
  '%s of many is offered where it does something',
  (name) => {
    const offered = STATES.filter((state) => bulkActionsFor(state, () => true).includes(name))

    expect(offered.toSorted()).toEqual(statesAccepting(name).toSorted())
  },
)

it('offers nothing that the caller may not do', () => {
  expect(actionsFor('archived', (right) => right === 'retry')).toEqual(['retry'])
  expect(actionsFor('archived', () => false)).toEqual([])
  expect(bulkActionsFor(undefined, (right) => right === 'purge')).toEqual(['purge'])
})
