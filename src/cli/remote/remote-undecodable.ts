import { Undecodable } from '../../client/undecodable.js'
import type { ApiClient } from '../../http/index.js'
import type { Store } from '../../store/store.js'
import { fromWire } from './from-wire.js'

type Check = Awaited<ReturnType<Undecodable['check']>>
type Release = Awaited<ReturnType<Undecodable['release']>>

/** Held payloads behind a server, which asks its workers; code of one's own is asked on the database itself. */
export class RemoteUndecodable extends Undecodable {
  constructor(
    private readonly api: ApiClient,
    store: Store,
  ) {
    super(store, 'cli')
  }

  override async check(...[selector = {}, options = {}]: Parameters<Undecodable['check']>): Promise<Check> {
    if (options.jobs !== undefined) return super.check(selector, options)
    return fromWire(await this.api.checkUndecodable({ body: bodyOf(selector) }))
  }

  override async release(...[selector, options = {}]: Parameters<Undecodable['release']>): Promise<Release> {
    if (options.jobs !== undefined) return super.release(selector, options)
    const { force, reason } = options
    const wanted = typeof selector === 'string' ? { ids: [selector] } : bodyOf(selector)
    const how = { ...(force === undefined ? {} : { force }), ...(reason === undefined ? {} : { reason }) }
    return fromWire(await this.api.releaseUndecodable({ body: { ...wanted, ...how } }))
  }
}

function bodyOf({ queue, kind, ids, all }: Exclude<Parameters<Undecodable['release']>[0], string>) {
  return {
    ...(queue === undefined ? {} : { queue }),
    ...(kind === undefined ? {} : { kind }),
    ...(ids === undefined ? {} : { ids: [...ids] }),
    ...(all === undefined ? {} : { all }),
  }
}
