import type { Client } from '../../client/client.js'
import type { CauseTarget } from '../../client/triage.js'
import { acting, type Call, type Handlers } from '../call.js'
import type { triageRoutes } from '../contract/triage.js'
import { defined } from '../defined.js'
import { checkQueue, checkReach, jobFor, noJob, reaches } from '../scope.js'

export const triageHandlers: Handlers<keyof typeof triageRoutes> = {
  async dlqTriage(call, { params }) {
    const job = await jobFor(call, params.id, { payload: false })
    if (job?.state !== 'archived') throw noJob(params.id)
    const triage = await call.client.dlq.triageOf(params.id)
    return { triage: triage === undefined ? null : shown(call, triage) }
  },

  async ackDlq(call, { params, body }) {
    await checkReach(call, params.id)
    return ack(call, params.id, body)
  },
  async noteDlq(call, { params, body }) {
    await checkReach(call, params.id)
    return note(call, params.id, body)
  },
  async muteDlq(call, { params, body }) {
    await checkReach(call, params.id)
    return mute(call, params.id, body)
  },
  async resolveDlq(call, { params, body }) {
    await checkReach(call, params.id)
    return resolve(call, params.id, body)
  },

  ackCause: async (call, { params, body }) => ack(call, causeOf(call, params.cause, body), body),
  noteCause: async (call, { params, body }) => note(call, causeOf(call, params.cause, body), body),
  muteCause: async (call, { params, body }) => mute(call, causeOf(call, params.cause, body), body),
  resolveCause: async (call, { params, body }) => resolve(call, causeOf(call, params.cause, body), body),

  async unreviewedDlq(call, { query }) {
    const all = await call.once('unreviewed', () => call.client.dlq.unreviewed())
    const { queue } = query
    return { items: within(call, queue, all).filter((it) => queue === undefined || it.queue === queue) }
  },
  async expiringDlq(call, { query }) {
    return { items: within(call, query.queue, await call.client.dlq.expiring(defined(query))) }
  },
  async cappedDlq(call) {
    return { items: within(call, undefined, await call.once('capped', () => call.client.dlq.capped())) }
  },
}

type Target = string | CauseTarget
type Triage = Awaited<ReturnType<Client['dlq']['ack']>>
interface Said {
  readonly reason?: string | undefined
  readonly clear?: boolean | undefined
}

async function ack(call: Call, target: Target, { clear, ...body }: Said) {
  return shown(call, await call.client.dlq.ack(target, { clear, ...acting(call, body) }))
}

async function note(call: Call, target: Target, { text, ...body }: Said & { readonly text: string | null }) {
  return shown(call, await call.client.dlq.note(target, text, acting(call, body)))
}

async function mute(
  call: Call,
  target: Target,
  { until, ...body }: Said & { readonly until: Date | string | number | null },
) {
  return shown(call, await call.client.dlq.mute(target, until, acting(call, body)))
}

async function resolve(
  call: Call,
  target: Target,
  { link, clear, ...body }: Said & { readonly link?: string | undefined },
) {
  return shown(call, await call.client.dlq.resolve(target, { link, clear, ...acting(call, body) }))
}

function causeOf(call: Call, cause: string, { queue }: { readonly queue: string }): CauseTarget {
  checkQueue(call, queue)
  return { queue, cause }
}

function within<T extends { readonly queue: string }>(call: Call, queue: string | undefined, all: readonly T[]): T[] {
  checkQueue(call, queue)
  return all.filter((it) => reaches(call.principal, it.queue))
}

/** People write secrets down too. */
function shown(call: Call, triage: Triage): Triage {
  return { ...triage, note: triage.note && call.views.masker.text(triage.note) }
}
