import { toWire, wireJson } from '../../client/wire.js'
import { SpillwayError } from '../../job/errors.js'
import { acting, type Call, type Handlers } from '../call.js'
import type { eventRoutes } from '../contract/events.js'
import { eventStream, type Outlet } from '../event-stream.js'
import type { LiveEvent, LogEvent } from '../live.js'
import { checkQueue, reaches, wholeStore } from '../scope.js'
import { seesOperation } from './bulk.js'

export const eventHandlers: Handlers<keyof typeof eventRoutes> = {
  async events(call, { query }) {
    checkQueue(call, query.queue)
    const after = call.request.headers.get('last-event-id') ?? query.after
    if (after !== undefined && !isPosition(after)) {
      throw new SpillwayError('invalid_option', 'cannot go on after this Last-Event-ID: the id of an event is accepted')
    }
    const over = AbortSignal.timeout(call.streamMs)
    return eventStream((outlet) => follow(call, query.queue, after, outlet), [call.signal, call.stopping, over])
  },

  async eventRetention(call) {
    return { retentionMs: await call.client.events.retention() }
  },

  async setEventRetention(call, { body }) {
    wholeStore(call)
    return { retentionMs: await call.client.events.setRetention(body.retention, acting(call, body)) }
  },

  async listEvents(call, { query }) {
    checkQueue(call, query.queue)
    const { type, ...rest } = query
    const page = await call.client.events.list({ ...rest, ...(type === undefined ? {} : { types: [type] }) })
    const items = page.items.filter(({ queue }) => reaches(call.principal, queue))
    return { ...page, items: items.map((event) => shown(call, event)) }
  },
}

/** What the log counts in: no larger number is one of it, and a reader who comes back with one would come back for ever. */
function isPosition(text: string): boolean {
  return /^\d{1,19}$/.test(text) && BigInt(text) < 2n ** 63n
}

/**
 * Tells the outlet of everything it may know. What is behind `after` comes from the log first; what happens meanwhile waits
 * and follows, so that nothing is missed and nothing comes twice.
 */
function follow(call: Call, queue: string | undefined, after: string | undefined, outlet: Outlet): () => void {
  let passed = after === undefined ? undefined : BigInt(after)
  let waiting: LiveEvent[] | undefined = after === undefined ? undefined : []
  const tell = (event: LiveEvent) => {
    if (event.id !== undefined) {
      if (passed !== undefined && BigInt(event.id) <= passed) return
      passed = BigInt(event.id)
    }
    outlet.tell(event)
  }
  const stop = call.live.listen((event) => {
    if (!mayKnow(call, event) || !isAbout(event, queue)) return
    if (waiting !== undefined && event.id !== undefined) waiting.push(event)
    else tell(event.log === undefined ? event : ofLog(call, event.log))
  })
  const catchUp = async () => {
    await call.live.ready()
    const filter = { after, ...(queue === undefined ? {} : { queue }), limit: 500 }
    for await (const event of call.client.events.list(filter)) {
      if (outlet.isClosed) return
      if (reaches(call.principal, event.queue)) tell(ofLog(call, event))
    }
    const held = waiting ?? []
    waiting = undefined
    for (const event of held) if (event.log !== undefined) tell(ofLog(call, event.log))
  }
  // Its reader comes back, and goes on from the last id it has.
  if (after !== undefined) void catchUp().catch(() => outlet.close())
  return stop
}

function ofLog(call: Call, event: LogEvent): LiveEvent {
  const { type, position, queue } = event
  return { type, id: position, data: wireJson(toWire(shown(call, event))), about: { queues: [queue] } }
}

function shown(call: Call, event: LogEvent): LogEvent {
  return { ...event, message: event.message && call.views.masker.text(event.message) }
}

function mayKnow(call: Call, { about }: LiveEvent): boolean {
  if ('queues' in about) return about.queues.some((queue) => reaches(call.principal, queue))
  return seesOperation(call, about)
}

function isAbout({ about }: LiveEvent, queue: string | undefined): boolean {
  if (queue === undefined) return true
  if ('queues' in about) return about.queues.includes(queue)
  return about.selector.queue === queue || (about.selector.queues?.includes(queue) ?? false)
}
