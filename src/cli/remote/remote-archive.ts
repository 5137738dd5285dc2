import { Archive } from '../../client/archive.js'
import { toWire, wireJson } from '../../client/wire.js'
import type { ApiClient } from '../../http/index.js'
import type { ColdFilter, Store } from '../../store/store.js'
import { linesOf } from '../lines.js'
import { orNothing, why } from './asking.js'
import { fromWire } from './from-wire.js'

/** The cold archive behind a server. */
export class RemoteArchive extends Archive {
  constructor(
    private readonly api: ApiClient,
    store: Store,
  ) {
    super(store, 'cli')
  }

  override async *export(filter: ColdFilter = {}): AsyncGenerator<string, void, undefined> {
    const response = await this.api.exportArchive({ query: toWire(filter) as object })
    if (response.body === null) return
    for await (const line of linesOf(response.body as unknown as AsyncIterable<Uint8Array>)) if (line !== '') yield line
  }
}

export function remoteArchive(api: ApiClient): Partial<Store> {
  return {
    listCold: async (filter, page) =>
      fromWire(await api.listArchive({ query: { ...(toWire(filter) as object), ...page } })),
    async getCold(id) {
      const found = await orNothing(() => api.getArchived({ params: { id }, query: { include_payload: 'true' } }))
      if (found === undefined) return undefined
      return fromWire({ ...found, ...(found.payload === undefined ? {} : { payload_text: wireJson(found.payload) }) })
    },
    coldMonths: async () => fromWire<{ items: never[] }>(await api.archiveMonths()).items,
    restoreCold: async (id, act) => fromWire(await api.restoreArchived({ params: { id }, body: why(act) })),
    pruneCold: async (month, act) => fromWire(await api.pruneArchive({ body: { month, ...why(act) } })),
  }
}
