import { z } from 'zod'
import * as answer from '../answers.js'
import * as input from '../inputs.js'
import { route } from '../route.js'

const tag = 'queues'

/** Queues, their policy, and their brakes. */
export const queueRoutes = {
  listQueues: route({
    method: 'GET',
    path: '/queues',
    tag,
    summary: 'Every queue that has jobs or a policy, with its counts.',
    right: 'read',
    answers: { 200: z.object({ items: z.array(answer.queue) }) },
  }),
  unservedKinds: route({
    method: 'GET',
    path: '/unserved',
    tag,
    summary: 'Kinds and versions with jobs that no worker of their queue runs, and how long they have waited.',
    right: 'read',
    answers: { 200: z.object({ items: z.array(answer.unservedKind) }) },
  }),
  removedJobs: route({
    method: 'GET',
    path: '/removed',
    tag,
    summary:
      'How many jobs left for good, by queue, by how, and by the state or reason they were kept under; default in the last 24 hours.',
    right: 'read',
    query: z.strictObject({ queue: input.name.optional(), since: input.time.optional() }),
    answers: { 200: z.object({ items: z.array(answer.removed) }) },
  }),
  getQueue: route({
    method: 'GET',
    path: '/queues/{queue}',
    tag,
    summary: 'The policy of a queue, defaults included, and its counts.',
    right: 'read',
    answers: { 200: answer.queue },
  }),
  setQueue: route({
    method: 'PATCH',
    path: '/queues/{queue}',
    tag,
    summary: 'Change what is named of a queue’s policy; the rest stays. Every process follows within a second.',
    right: 'admin',
    body: input.policyBody,
    answers: { 200: answer.queue },
  }),
  pauseQueue: route({
    method: 'POST',
    path: '/queues/{queue}/pause',
    tag,
    summary: 'Stop new claims from a queue; what runs goes on.',
    right: 'operate',
    body: input.because,
    bodyOptional: true,
    answers: { 200: answer.queue },
  }),
  resumeQueue: route({
    method: 'POST',
    path: '/queues/{queue}/resume',
    tag,
    summary: 'Let workers claim from a queue again.',
    right: 'operate',
    body: input.because,
    bodyOptional: true,
    answers: { 200: answer.queue },
  }),
} as const
