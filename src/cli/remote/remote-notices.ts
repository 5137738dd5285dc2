import type { ActOptions } from '../../client/act.js'
import { Callbacks, type Extended, type HeartbeatOptions } from '../../client/callbacks.js'
import { Events, type ListEventsOptions, type SubscribeOptions } from '../../client/events.js'
import { Listing, type ListOptions } from '../../client/listing.js'
import type { WebhookOptions } from '../../client/webhook-options.js'
import { type Webhook, type WebhookChanges, Webhooks, type WebhookWithSecret } from '../../client/webhooks.js'
import type { ApiClient } from '../../http/index.js'
import { failureOf } from '../../job/callback.js'
import type { Duration } from '../../job/duration.js'
import { isSpillwayError } from '../../job/errors.js'
import type { Answered, Delivery, DeliveryFilter, LoggedEvent, Page, Store } from '../../store/store.js'
import { fromWire } from './from-wire.js'

const LOOK_MS = 1_000
const PAGE = 500

/** The event log behind a server. */
export class RemoteEvents extends Events {
  constructor(
    private readonly api: ApiClient,
    store: Store,
  ) {
    super(store, 'cli')
  }

  override list({ after, types, limit, ...filter }: ListEventsOptions = {}): Listing<LoggedEvent> {
    const page = async (cursor: string | undefined, most: number): Promise<Page<LoggedEvent>> => {
      const [type] = types?.length === 1 ? types : []
      const query = { ...filter, after: cursor, type, limit: most }
      const found = fromWire<Page<LoggedEvent>>(await this.api.listEvents({ query: named(query) }))
      const wanted = types as readonly string[] | undefined
      return { ...found, items: found.items.filter((it) => wanted?.includes(it.type) ?? true) }
    }
    const listed = { ...(after === undefined ? {} : { cursor: after }), ...(limit === undefined ? {} : { limit }) }
    return new Listing(({ cursor, limit: most }) => page(cursor, most), listed)
  }

  /** Looks every second: as live as a person needs it, and through any proxy. */
  override async *subscribe({
    signal,
    ...options
  }: SubscribeOptions = {}): AsyncGenerator<LoggedEvent, void, undefined> {
    let after = options.after ?? (await this.position())
    while (!signal?.aborted) {
      for await (const event of this.list({ ...options, after, limit: PAGE })) {
        if (signal?.aborted) return
        yield event
        after = event.position
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }

  override async retention(): Promise<number> {
    return (await this.api.eventRetention()).retention_ms
  }

  override async setRetention(retention: Duration, { reason }: ActOptions = {}): Promise<number> {
    return (await this.api.setEventRetention({ body: { retention, ...named({ reason }) } })).retention_ms
  }

  override async position(): Promise<string> {
    let position = '0'
    for await (const event of this.list({ limit: 1_000 })) position = event.position
    return position
  }
}

export class RemoteCallbacks extends Callbacks {
  constructor(
    private readonly api: ApiClient,
    store: Store,
  ) {
    super(store)
  }

  override async complete(token: string, value: unknown = null): Promise<Answered> {
    return fromWire(await this.api.completeCallback({ params: { token }, body: { value } }))
  }

  override async fail(token: string, error: unknown = 'the callback failed'): Promise<Answered> {
    const { name, message, code } = failureOf(error)
    const failure = { name, message, ...(code === null ? {} : { code }) }
    return fromWire(await this.api.failCallback({ params: { token }, body: { error: failure } }))
  }

  override async heartbeat(token: string, { timeout }: HeartbeatOptions = {}): Promise<Extended> {
    return fromWire(await this.api.heartbeatCallback({ params: { token }, body: named({ timeout }) }))
  }
}

export class RemoteWebhooks extends Webhooks {
  constructor(
    private readonly api: ApiClient,
    store: Store,
  ) {
    // Where a url may lead is the server's to say.
    super(store, 'cli', { allowPrivate: true, sendDue: () => Promise.resolve() })
  }

  override async create(options: WebhookOptions, { reason }: ActOptions = {}): Promise<WebhookWithSecret> {
    return fromWire(
      await this.api.createWebhook({ body: { ...bodyOf(options), url: options.url, ...named({ reason }) } }),
    )
  }

  override async list(): Promise<readonly Webhook[]> {
    return fromWire<{ items: readonly Webhook[] }>(await this.api.listWebhooks()).items
  }

  override async get(id: string): Promise<Webhook | undefined> {
    try {
      const found: Webhook = fromWire(await this.api.getWebhook({ params: { id } }))
      return found
    } catch (error) {
      if (isSpillwayError(error) && (error.code === 'not_found' || error.code === 'route_not_found')) return undefined
      throw error
    }
  }

  override async update(
    id: string,
    { paused, rotateSecret, ...options }: WebhookChanges,
    { reason }: ActOptions = {},
  ): Promise<Webhook | WebhookWithSecret> {
    const body = { ...bodyOf(options), ...named({ paused, rotate_secret: rotateSecret, reason }) }
    return fromWire(await this.api.updateWebhook({ params: { id }, body }))
  }

  override async delete(id: string, { reason }: ActOptions = {}): Promise<void> {
    await this.api.deleteWebhook({ params: { id }, query: named({ reason }) })
  }

  override async test(id: string, { reason }: ActOptions = {}): Promise<Delivery> {
    return fromWire(await this.api.testWebhook({ params: { id }, body: named({ reason }) }))
  }

  override deliveries({ webhookId, state }: DeliveryFilter = {}, options: ListOptions = {}): Listing<Delivery> {
    const page = async (request: object) =>
      fromWire<Page<Delivery>>(
        await this.api.listDeliveries({ query: { ...named({ webhook_id: webhookId, state }), ...request } }),
      )
    return new Listing(page, options)
  }

  override async redeliver(id: string, { reason }: ActOptions = {}): Promise<Delivery> {
    return fromWire(await this.api.redeliver({ params: { id }, body: named({ reason }) }))
  }
}

function bodyOf({ url, description, types, queues, kinds, reasons, digest, digestEvents }: Partial<WebhookOptions>) {
  const list = <T>(values: readonly T[] | null | undefined) => values && [...values]
  return named({
    ...{ url, description, digest, digest_events: digestEvents },
    ...{ types: list(types), queues: list(queues), kinds: list(kinds), reasons: list(reasons) },
  })
}

function named<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, it]) => it !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
