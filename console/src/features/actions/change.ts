import { curlOf } from '../../command-text.js'
import { type Answer, ask, type Sent } from '../../server.js'
import type { WireName } from '../../wire-routes.js'

/** One request that changes something: to be sent, and to be copied. */
export interface Change<R> {
  /** Everything that is asked for, to tell one request from another. */
  readonly request: unknown
  readonly cli: string
  readonly curl: string
  run(key: string): Promise<R>
}

/** The change that a route of the API makes, with the command line that makes the same. */
export function changeOf<N extends WireName>(name: N, sent: Sent<N>, cli: string): Change<Answer<N>> {
  return {
    request: { name, sent },
    cli,
    curl: curlOf(name, sent),
    run: (key) => ask(name, sent, { key }),
  }
}
