import { defined } from '../../http/defined.js'
import type { ApiClient } from '../../http/index.js'
import type { Store } from '../../store/store.js'
import { why } from './asking.js'
import { fromWire } from './from-wire.js'

/** Background work and rings behind a server. */
export function remoteUpkeep(api: ApiClient): Partial<Store> {
  return {
    duties: async () => fromWire<{ items: never[] }>(await api.listDuties()).items,
    pauseDuty: async (duty, act) => fromWire(await api.pauseDuty({ params: { duty }, body: why(act) })),
    resumeDuty: async (duty, act) => fromWire(await api.resumeDuty({ params: { duty }, body: why(act) })),
    rings: async () => fromWire<{ items: never[] }>(await api.listRings()).items,
    setRing: async (ring, { rotateRows, rotateMs }, act) =>
      fromWire(
        await api.setRing({
          params: { ring },
          body: { ...defined({ rotate_rows: rotateRows, rotate_after: rotateMs }), ...why(act) },
        }),
      ),
  }
}
