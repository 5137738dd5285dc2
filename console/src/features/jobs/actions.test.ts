import { expect, it } from 'vitest'
import { actionsFor, bulkActionsFor } from './actions.js'

const anybody = () => true

it('offers in each state what it accepts', () => {
  expect(actionsFor('archived', anybody)).toEqual(['retry', 'purge'])
  expect(actionsFor('running', anybody)).toEqual(['cancel'])
  expect(actionsFor('quarantined', anybody)).toEqual(['release', 'cancel', 'kill', 'purge'])
  expect(bulkActionsFor('scheduled', anybody)).toEqual(['promote', 'cancel', 'kill'])
})

it('offers nothing that the caller may not do', () => {
  expect(actionsFor('archived', (right) => right === 'retry')).toEqual(['retry'])
  expect(actionsFor('archived', () => false)).toEqual([])
  expect(bulkActionsFor(undefined, (right) => right === 'purge')).toEqual(['purge'])
})
