import { z } from 'zod'
import * as answer from '../answers.js'
import { route } from '../route.js'

const tag = 'access'

/** Where a browser comes in and goes. */
export const sessionRoutes = {
  getSession: route({
    method: 'GET',
    path: '/session',
    tag,
    summary: 'Who the caller is, what they may do where, and until when they are signed in.',
    right: 'none',
    answers: { 200: answer.caller },
  }),
  signIn: route({
    method: 'POST',
    path: '/session',
    tag,
    summary:
      'Exchange a token for a cookie that no script can read. It ends with the token, or in 12 hours; changes made with it need the header x-spillway-csrf: 1.',
    right: 'none',
    mutation: false,
    body: z.strictObject({ token: z.string().min(1).max(16_384) }),
    answers: { 200: answer.caller },
  }),
  signOut: route({
    method: 'DELETE',
    path: '/session',
    tag,
    summary: 'End the session, from the next request on.',
    right: 'none',
    mutation: false,
    answers: { 200: z.object({ signed_in: z.literal(false) }) },
  }),
} as const
