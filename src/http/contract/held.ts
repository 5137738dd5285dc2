import { z } from 'zod'
import * as answer from '../answers.js'
import * as input from '../inputs.js'
import { route } from '../route.js'

const tag = 'held'
const selector = z.strictObject({
  queue: input.name.optional(),
  kind: input.name.optional(),
  ids: z.array(z.string().min(1).max(100)).min(1).max(1_000).optional(),
  all: z.boolean().optional(),
})

/** Jobs that are held: quarantined, because they are suspected of killing workers, or undecodable. */
export const heldRoutes = {
  listQuarantine: route({
    method: 'GET',
    path: '/quarantine',
    tag,
    summary: 'Fingerprints that are held, newest first.',
    right: 'read',
    query: z.strictObject(input.paging),
    answers: { 200: answer.page(answer.quarantined) },
  }),
  getQuarantined: route({
    method: 'GET',
    path: '/quarantine/{fingerprint}',
    tag,
    summary: 'One fingerprint: its crashes, the workers that died, and which jobs are held or blocked.',
    right: 'read',
    query: input.includePayload,
    answers: { 200: answer.quarantinedDetail },
    errors: ['not_found'],
  }),
  releaseQuarantined: route({
    method: 'POST',
    path: '/quarantine/{fingerprint}/release',
    tag,
    summary: 'Let its jobs run again; with `canary` one goes ahead, and the rest follows where it does well.',
    right: 'operate',
    body: z.strictObject({ canary: z.boolean().optional(), reason: input.reason.optional() }),
    bodyOptional: true,
    answers: { 200: answer.released },
    errors: ['not_found', 'invalid_state', 'job_moving'],
  }),
  listUndecodable: route({
    method: 'GET',
    path: '/undecodable',
    tag,
    summary: 'Jobs whose payload no code could read, newest first.',
    right: 'read',
    query: z.strictObject({ queue: input.name.optional(), kind: input.name.optional(), ...input.paging }),
    answers: { 200: answer.page(answer.job) },
  }),
  checkUndecodable: route({
    method: 'POST',
    path: '/undecodable/check',
    tag,
    summary: 'Ask the workers which of them would decode now; what nobody can say is unknown.',
    right: 'read',
    mutation: false,
    body: selector,
    bodyOptional: true,
    answers: { 200: answer.undecodableCheck },
    errors: ['selector_refused'],
  }),
  releaseUndecodable: route({
    method: 'POST',
    path: '/undecodable/release',
    tag,
    summary: 'Let go what decodes now; with `force` everything that is named.',
    right: 'operate',
    body: selector.extend({ force: z.boolean().optional(), reason: input.reason.optional() }),
    answers: { 200: answer.undecodableRelease },
    errors: ['selector_refused'],
  }),
  releaseJob: route({
    method: 'POST',
    path: '/jobs/{id}/release',
    tag: 'jobs',
    summary:
      'Let one held job go: a quarantined one as it is, an undecodable one where it decodes now or with `force`.',
    right: 'operate',
    body: z.strictObject({ force: z.boolean().optional(), reason: input.reason.optional() }),
    bodyOptional: true,
    answers: { 200: answer.acted },
    errors: ['not_found', 'invalid_state', 'undecodable', 'not_checked', 'job_moving'],
  }),
} as const
