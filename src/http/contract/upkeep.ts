import { z } from 'zod'
import { DUTIES, type DutyName } from '../../job/duties.js'
import * as answer from '../answers.js'
import * as input from '../inputs.js'
import { route } from '../route.js'

const tag = 'upkeep'
const duties = Object.keys(DUTIES) as [DutyName, ...DutyName[]]

/** What is done in the background, its brakes, and where live jobs lie. */
export const upkeepRoutes = {
  listDuties: route({
    method: 'GET',
    path: '/duties',
    tag,
    summary: `What is done in the background and how it fares: ${duties.join(', ')}.`,
    right: 'read',
    answers: { 200: z.object({ items: z.array(answer.duty) }) },
  }),
  pauseDuty: route({
    method: 'POST',
    path: '/duties/{duty}/pause',
    tag,
    summary: 'Let nobody begin another pass of a duty; one under way ends.',
    right: 'operate',
    body: input.because,
    bodyOptional: true,
    answers: { 200: answer.duty },
  }),
  resumeDuty: route({
    method: 'POST',
    path: '/duties/{duty}/resume',
    tag,
    summary: 'Let the passes of a duty go on.',
    right: 'operate',
    body: input.because,
    bodyOptional: true,
    answers: { 200: answer.duty },
  }),
  listRings: route({
    method: 'GET',
    path: '/rings',
    tag,
    summary: 'The rings of slots that live jobs lie in, and when they turn.',
    right: 'read',
    answers: { 200: z.object({ items: z.array(answer.ring) }) },
  }),
  setRing: route({
    method: 'PATCH',
    path: '/rings/{ring}',
    tag,
    summary: 'Change when a ring (ready or leases) turns; holds from the next turn on.',
    right: 'admin',
    body: z.strictObject({
      rotate_rows: z.number().int().min(100).max(10_000_000).optional().describe('Default 20000'),
      rotate_after: input.duration.optional().describe('1s to 24h; default 10s'),
      reason: input.reason.optional(),
    }),
    answers: { 200: answer.ring },
  }),
} as const
