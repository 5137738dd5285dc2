import type { Call, Handlers } from '../call.js'
import type { eventRoutes } from '../contract/events.js'
import { eventStream } from '../event-stream.js'
import type { LiveEvent } from '../live.js'
import { checkQueue, reaches } from '../scope.js'
import { seesOperation } from './bulk.js'

export const eventHandlers: Handlers<keyof typeof eventRoutes> = {
  async events(call, { query }) {
    checkQueue(call, query.queue)
    const start = (tell: (event: LiveEvent) => void) =>
      call.live.listen((event) => {
        if (mayKnow(call, event) && isWanted(event, query.queue)) tell(event)
      })
    return eventStream(start, [call.signal, call.stopping])
  },
}

function mayKnow(call: Call, { about }: LiveEvent): boolean {
  if ('queues' in about) return about.queues.some((queue) => reaches(call.principal, queue))
  return seesOperation(call, about)
}

function isWanted({ about }: LiveEvent, queue: string | undefined): boolean {
  if (queue === undefined) return true
  if ('queues' in about) return about.queues.includes(queue)
  return about.selector.queue === queue || (about.selector.queues?.includes(queue) ?? false)
}
