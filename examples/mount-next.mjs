// The control API as a route handler of Next: this is app/queues/[[...path]]/route.js, with the application's own client.
import { createHandler, toNext } from 'spillway/http'

export function createRoutes(spillway, access = { tokens: true }) {
  return toNext(createHandler({ spillway, access }), '/queues')
}

// import { spillway } from '../../../spillway.js'
// export const dynamic = 'force-dynamic'
// export const { GET, HEAD, POST, PUT, PATCH, DELETE } = createRoutes(spillway)
