import { z } from 'zod'
import * as answer from '../answers.js'
import * as input from '../inputs.js'
import { route } from '../route.js'

const tag = 'operations'
const errors = ['operation_not_found', 'invalid_state'] as const

/** Bulk work, past and present. */
export const operationRoutes = {
  listOperations: route({
    method: 'GET',
    path: '/operations',
    tag,
    summary: 'Bulk work, newest first.',
    right: 'read',
    query: z.strictObject(input.paging),
    answers: { 200: answer.page(answer.operation) },
  }),
  getOperation: route({
    method: 'GET',
    path: '/operations/{id}',
    tag,
    summary: 'One operation, how far it is, and what its dry run found.',
    right: 'read',
    answers: { 200: answer.operation },
    errors: ['operation_not_found'],
  }),
  operationRows: route({
    method: 'GET',
    path: '/operations/{id}/rows',
    tag,
    summary: 'The rows it did not do, and why.',
    right: 'read',
    query: z.strictObject(input.paging),
    answers: { 200: answer.page(answer.operationRow) },
    errors: ['operation_not_found'],
  }),
  setOperationRate: route({
    method: 'PATCH',
    path: '/operations/{id}',
    tag,
    summary: 'Change its pace from the next batch on; `rate` null is no limit.',
    right: 'operate',
    body: z.strictObject({
      rate: z.number().positive().max(1_000_000).nullable().optional(),
      max_waiting: z.number().int().min(0).max(2_147_483_647).optional(),
      reason: input.reason.optional(),
    }),
    answers: { 200: answer.operation },
    errors,
  }),
  pauseOperation: route({
    method: 'POST',
    path: '/operations/{id}/pause',
    tag,
    summary: 'Hold it between two batches.',
    right: 'operate',
    body: input.because,
    bodyOptional: true,
    answers: { 200: answer.operation },
    errors,
  }),
  resumeOperation: route({
    method: 'POST',
    path: '/operations/{id}/resume',
    tag,
    summary: 'Let it go on; after failed canaries, let the rest follow all the same.',
    right: 'operate',
    body: input.because,
    bodyOptional: true,
    answers: { 200: answer.operation },
    errors,
  }),
  cancelOperation: route({
    method: 'POST',
    path: '/operations/{id}/cancel',
    tag,
    summary: 'End it between two batches. What it moved stays moved.',
    right: 'operate',
    body: input.because,
    bodyOptional: true,
    answers: { 200: answer.operation },
    errors,
  }),
  undoOperation: route({
    method: 'POST',
    path: '/operations/{id}/undo',
    tag,
    summary: 'Take back a retry (what has not started) or a discard, as an operation of its own.',
    right: 'operate',
    body: input.because,
    bodyOptional: true,
    answers: { 202: answer.operation },
    errors: ['operation_not_found', 'not_undoable'],
  }),
} as const
