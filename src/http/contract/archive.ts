import { z } from 'zod'
import { JOB_STATES, type JobState } from '../../job/states.js'
import * as answer from '../answers.js'
import * as input from '../inputs.js'
import { route } from '../route.js'

const tag = 'archive'

const filters = {
  queue: input.name.optional(),
  kind: input.name.optional(),
  state: z
    .enum(JOB_STATES as [JobState, ...JobState[]])
    .optional()
    .describe('Which it was in'),
  tag: input.name.optional(),
  cause: input.name.optional(),
  reason: input.name.optional(),
  error: input.text(500).optional().describe('Text in its error class or message'),
  since: input.time.optional().describe('Archived at or after'),
  until: input.time.optional().describe('Archived before'),
}

/** Jobs that outlived their retention, of queues that keep them for audits. */
export const archiveRoutes = {
  listArchive: route({
    method: 'GET',
    path: '/archive',
    tag,
    summary:
      'Archived jobs, newest first, without payloads. A page of a search looks at 10,000 rows at most, and says `partial` then.',
    right: 'read',
    query: z.strictObject({
      ...filters,
      q: input.text(500).optional().describe('The same as `error`'),
      ...input.paging,
    }),
    answers: { 200: answer.page(answer.archivedJob) },
  }),
  archiveMonths: route({
    method: 'GET',
    path: '/archive/months',
    tag,
    summary:
      'The months of the archive, oldest first: how many jobs, until when they are kept, and which may be pruned.',
    right: 'read',
    answers: { 200: z.object({ items: z.array(answer.archiveMonth) }) },
  }),
  exportArchive: route({
    method: 'GET',
    path: '/archive/export',
    tag,
    summary: 'Archived jobs that match, whole, one JSON document a line (NDJSON). Noted in the audit log.',
    right: 'payload:read',
    query: z.strictObject(filters),
    answers: { 200: 'lines' },
  }),
  getArchived: route({
    method: 'GET',
    path: '/archive/{id}',
    tag,
    summary: 'One archived job, with its history.',
    right: 'read',
    query: input.includePayload,
    answers: { 200: answer.archivedJob },
    errors: ['not_found'],
  }),
  restoreArchived: route({
    method: 'POST',
    path: '/archive/{id}/restore',
    tag,
    summary: 'Bring a job that was dead back as a dead letter, equal to what it was. It is not run.',
    right: 'operate',
    body: input.because,
    bodyOptional: true,
    answers: { 200: answer.acted },
    errors: ['not_found', 'invalid_state', 'job_moving'],
  }),
  pruneArchive: route({
    method: 'POST',
    path: '/archive/prune',
    tag,
    summary: 'Remove a month for good, if every job in it has outlived its archive retention.',
    right: 'purge',
    body: z.strictObject({
      month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, { error: 'a month as 2026-01 is accepted' }),
      reason: input.reason.optional(),
    }),
    answers: { 200: z.object({ month: z.string(), rows: z.number().int().min(0) }) },
    errors: ['not_found', 'archive_kept'],
  }),
} as const
