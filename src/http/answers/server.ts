import { z } from 'zod'
import { RIGHTS, ROLES, type Role } from '../../job/rights.js'
import { count, json, when } from './values.js'

export const worker = z
  .object({
    registration: z.string(),
    name: z.string(),
    host: z.string(),
    pid: count,
    state: z.enum(['running', 'stopping']),
    queues: z.array(z.string()),
    kinds: z.array(z.string()),
    concurrency: count,
    running: count,
    started_at: when,
    heartbeat_at: when,
  })
  .meta({ id: 'Worker' })

export const auditEntry = z
  .object({
    id: z.string(),
    at: when,
    actor: z.string(),
    action: z.string(),
    target: json,
    reason: z.string().nullable(),
    result: json,
    request_id: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' })

/** Who asks. */
export const caller = z
  .object({
    authentication: z.enum(['none', 'required']),
    sessions: z.boolean().describe('Whether POST /session exchanges a token for a cookie'),
    read_only: z.boolean(),
    signed_in: z.boolean().describe('Whether the server knows who asks, or asks nobody'),
    actor: z.string().nullable(),
    role: z
      .enum(Object.keys(ROLES) as [Role, ...Role[]])
      .nullable()
      .describe('The role that has exactly these rights'),
    rights: z.array(z.enum(RIGHTS)),
    queues: z.array(z.string()).nullable().describe('The only ones the caller sees; null is all'),
    expires_at: when.nullable().describe('Of the session'),
  })
  .meta({ id: 'Caller' })
