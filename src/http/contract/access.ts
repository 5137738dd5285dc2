import { z } from 'zod'
import { RIGHTS, ROLES, type Role } from '../../job/rights.js'
import * as answer from '../answers.js'
import * as input from '../inputs.js'
import { route } from '../route.js'

const tag = 'access'
const roles = Object.keys(ROLES) as [Role, ...Role[]]

/** Tokens, and places that are shown to nobody. */
export const accessRoutes = {
  listTokens: route({
    method: 'GET',
    path: '/tokens',
    tag,
    summary: 'The tokens, newest first, those that are over too; never their secrets.',
    right: 'admin',
    query: z.strictObject(input.paging),
    answers: { 200: answer.page(answer.token) },
  }),
  createToken: route({
    method: 'POST',
    path: '/tokens',
    tag,
    summary: 'Make a token. Its secret stands in this answer only; a repeated request answers without it.',
    right: 'admin',
    body: z.strictObject({
      name: input.name,
      role: z.enum(roles).optional().describe('Default viewer, where no rights are named'),
      rights: z.array(z.enum(RIGHTS)).min(1).max(20).optional().describe('Besides those of the role'),
      queues: z.array(input.name).min(1).max(100).optional().describe('The only ones it reaches; default all'),
      expires_in: input.duration.optional().describe('Default 90d'),
      reason: input.reason.optional(),
    }),
    answers: { 201: answer.token.extend({ secret: z.string().nullable() }) },
  }),
  revokeToken: route({
    method: 'DELETE',
    path: '/tokens/{id}',
    tag,
    summary: 'End a token, from the next request on.',
    right: 'admin',
    query: input.because,
    answers: { 200: answer.token },
    errors: ['token_not_found'],
  }),
  listMasks: route({
    method: 'GET',
    path: '/masking',
    tag,
    summary: 'Places of payloads that are shown to nobody; keys that look like secrets are hidden besides.',
    right: 'read',
    answers: {
      200: z.object({
        items: z.array(answer.maskedPath),
        by_server: z.array(z.string()).describe('Places the server was started with'),
        keys: z.array(z.string()).describe('Keys that are hidden everywhere, however they are written; * is any text'),
      }),
    },
  }),
  addMask: route({
    method: 'POST',
    path: '/masking',
    tag,
    summary: 'Hide a place: keys joined by dots, * for any key, ** for any number of them.',
    right: 'admin',
    body: z.strictObject({ path: input.text(500), reason: input.reason.optional() }),
    answers: { 200: z.object({ path: z.string(), changed: z.boolean() }) },
  }),
  removeMask: route({
    method: 'DELETE',
    path: '/masking/{path}',
    tag,
    summary: 'Show a place again.',
    right: 'admin',
    query: input.because,
    answers: { 200: z.object({ path: z.string(), changed: z.boolean() }) },
    errors: ['not_found'],
  }),
} as const
