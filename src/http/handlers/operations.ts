import { SpillwayError } from '../../job/errors.js'
import { acting, type Call, type Handlers, need } from '../call.js'
import type { operationRoutes } from '../contract/operations.js'
import { noneBeyond } from '../scope.js'
import { namesReached, seesOperation } from './bulk.js'
import { sharedPage } from './pages.js'

export const operationHandlers: Handlers<keyof typeof operationRoutes> = {
  async listOperations(call, { query }) {
    const page = await sharedPage(call, 'operations', {}, query, () => call.client.operations.list(query))
    return { ...page, items: page.items.filter((it) => seesOperation(call, it)).map((it) => shown(call, it)) }
  },

  async getOperation(call, { params }) {
    return shown(call, await found(call, params.id))
  },

  async operationRows(call, { params, query }) {
    await found(call, params.id)
    return call.client.operations.rows(params.id, query)
  },

  async setOperationRate(call, { params, body }) {
    await found(call, params.id)
    const { rate, max_waiting: maxWaiting } = body
    return shown(call, await call.client.operations.setRate(params.id, { rate, maxWaiting, ...acting(call, body) }))
  },

  async pauseOperation(call, { params, body }) {
    await found(call, params.id)
    return shown(call, await call.client.operations.pause(params.id, acting(call, body)))
  },

  async resumeOperation(call, { params, body }) {
    // Going on with it is doing it.
    const { action } = await found(call, params.id)
    if (action === 'retry') need(call, 'retry')
    if (action === 'purge') need(call, 'purge')
    return shown(call, await call.client.operations.resume(params.id, acting(call, body)))
  },

  async cancelOperation(call, { params, body }) {
    await found(call, params.id)
    return shown(call, await call.client.operations.cancel(params.id, acting(call, body)))
  },

  async undoOperation(call, { params, body }) {
    await found(call, params.id)
    const { started } = await call.client.operations.undo(params.id, acting(call, body))
    return shown(call, started)
  },
}

type Operation = NonNullable<Awaited<ReturnType<Call['client']['operations']['get']>>>

/** @throws `operation_not_found`, also where it is on queues that the caller does not reach. */
async function found(call: Call, id: string): Promise<Operation> {
  const operation = await call.client.operations.get(id)
  if (operation !== undefined && seesOperation(call, operation) && (await isWithin(call, operation))) return operation
  throw new SpillwayError('operation_not_found', `cannot find operation ${id}; GET /operations lists them`)
}

/** Of named jobs alone: whether they all are where the caller reaches them. */
async function isWithin(call: Call, operation: Operation): Promise<boolean> {
  return namesReached(call, operation) ?? noneBeyond(call, operation.selector.ids ?? [])
}

function shown(call: Call, operation: Operation): Operation {
  const { preview } = operation
  if (preview === null) return operation
  const text = (it: string | null) => it && call.views.masker.text(it)
  return {
    ...operation,
    preview: {
      ...preview,
      samples: preview.samples.map((it) => ({ ...it, errorMessage: text(it.errorMessage) })),
      causes: preview.causes.map((it) => ({ ...it, title: text(it.title) })),
    },
  }
}
