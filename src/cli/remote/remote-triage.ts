import { defined } from '../../http/defined.js'
import type { ApiClient } from '../../http/index.js'
import type { Store, TriageTarget } from '../../store/store.js'
import { orNothing, why } from './asking.js'
import { fromWire } from './from-wire.js'

/** What people say about dead letters and their causes, behind a server. */
export function remoteTriage(api: ApiClient): Partial<Store> {
  return {
    async triage(target, change, act) {
      const on = routesOf(api, target)
      const reason = why(act)
      switch (change.action) {
        case 'ack':
          return fromWire(await on.ack({ clear: change.clear, ...reason }))
        case 'note':
          return fromWire(await on.note({ text: change.text, ...reason }))
        case 'mute':
          return fromWire(await on.mute({ until: change.until?.toISOString() ?? null, ...reason }))
        case 'resolve':
          return fromWire(
            await on.resolve({ clear: change.clear, ...defined({ link: change.link ?? undefined }), ...reason }),
          )
      }
    },
    triageOf: async (id) => fromWire((await orNothing(() => api.dlqTriage({ params: { id } })))?.triage ?? undefined),
    unreviewed: async (queue) => itemsOf(await api.unreviewedDlq({ query: defined({ queue }) })),
    expiring: async (withinMs, queue) =>
      itemsOf(await api.expiringDlq({ query: defined({ queue, within: `${withinMs}ms` }) })),
    cappedQueues: async () => itemsOf(await api.cappedDlq()),
  }
}

function itemsOf<T>(answer: { readonly items: readonly unknown[] }): readonly T[] {
  return fromWire<{ items: readonly T[] }>(answer).items
}

function routesOf(api: ApiClient, target: TriageTarget) {
  if ('id' in target) {
    const params = { id: target.id }
    return {
      ack: (body: Body<'ackDlq'>) => api.ackDlq({ params, body }),
      note: (body: Body<'noteDlq'>) => api.noteDlq({ params, body }),
      mute: (body: Body<'muteDlq'>) => api.muteDlq({ params, body }),
      resolve: (body: Body<'resolveDlq'>) => api.resolveDlq({ params, body }),
    }
  }
  const { queue, cause } = target
  const params = { cause }
  return {
    ack: (body: Body<'ackDlq'>) => api.ackCause({ params, body: { queue, ...body } }),
    note: (body: Body<'noteDlq'>) => api.noteCause({ params, body: { queue, ...body } }),
    mute: (body: Body<'muteDlq'>) => api.muteCause({ params, body: { queue, ...body } }),
    resolve: (body: Body<'resolveDlq'>) => api.resolveCause({ params, body: { queue, ...body } }),
  }
}

type Body<N extends 'ackDlq' | 'noteDlq' | 'muteDlq' | 'resolveDlq'> = NonNullable<
  NonNullable<Parameters<ApiClient[N]>[0]>['body']
>
