import type { Client } from '../client/client.js'
import { toWire, wireJson } from '../client/wire.js'
import type { Selector } from '../job/selector.js'

/** Something that a listener is told of. */
export interface LiveEvent {
  /** `operation`, `queues`, or the type of an event of the log. */
  readonly type: string
  /** Where a listener may go on from; only events of the log have one. */
  readonly id?: string
  /** JSON. */
  readonly data: string
  /** Whether a caller who reaches only some queues may know of it. */
  readonly about: { readonly queues: readonly string[] } | OperationLike
  /** The event of the log it tells of. */
  readonly log?: LogEvent
}

export type LogEvent = Awaited<ReturnType<Client['events']['list']>>['items'][number]

export interface OperationLike {
  readonly selector: Selector
  readonly createdBy: string
}

const LOOK_MS = 1_000
const OPERATIONS = 20

/**
 * Watches the store for everybody who listens, and only while somebody does: ten listeners cost what one costs. Tells of
 * what the event log says from then on, of operations as they go on, and of queues whose counts change.
 */
export class Live {
  private readonly listeners = new Set<(event: LiveEvent) => void>()
  private timer: NodeJS.Timeout | undefined
  private operations = new Map<string, string>()
  private queues = new Map<string, string>()
  private isFirst = true
  private following: { readonly ready: Promise<void>; readonly end: AbortController } | undefined

  constructor(
    private readonly client: Client,
    private readonly onError: (error: unknown) => void,
    private readonly lookMs = LOOK_MS,
  ) {}

  /** @returns what ends it. */
  listen(listener: (event: LiveEvent) => void): () => void {
    this.listeners.add(listener)
    this.timer ??= setTimeout(() => void this.look(), 0)
    this.following ??= this.follow()
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size > 0) return
      this.following?.end.abort()
      this.following = undefined
    }
  }

  /** Resolves when every event from now on will be told of. Rejects where the store cannot be asked. */
  async ready(): Promise<void> {
    await this.following?.ready
  }

  private follow() {
    const end = new AbortController()
    const from = this.client.events.position()
    void (async () => {
      for await (const log of this.client.events.subscribe({ after: await from, signal: end.signal })) {
        this.tell({ type: log.type, id: log.position, data: '', about: { queues: [log.queue] }, log })
      }
    })().catch((error: unknown) => {
      this.onError(error)
      // The next one who listens begins anew.
      if (this.following?.end === end) this.following = undefined
    })
    return { ready: from.then(() => undefined), end }
  }

  private tell(event: LiveEvent): void {
    for (const listener of this.listeners) listener(event)
  }

  private async look(): Promise<void> {
    try {
      // Both are read before anything is told, so that whoever acts on the one is told of the other.
      const { items } = await this.client.operations.list({ limit: OPERATIONS })
      const queues = await this.client.queues.list()
      const news = [...this.newsOf(items), ...this.newsOfQueues(queues)]
      this.isFirst = false
      for (const event of news) this.tell(event)
    } catch (error) {
      // A store that is away comes back; listeners keep what they have.
      this.onError(error)
    }
    this.timer = undefined
    if (this.listeners.size > 0) this.timer = setTimeout(() => void this.look(), this.lookMs)
    else this.forget()
  }

  /** The next listener is told of what changes after it came, not of what changed meanwhile. */
  private forget(): void {
    this.operations.clear()
    this.queues.clear()
    this.isFirst = true
  }

  private newsOf(items: readonly Operation[]): LiveEvent[] {
    const now = new Map(items.map((it) => [it.id, wireJson(toWire({ ...it, preview: null }))]))
    const news = items.filter((it) => {
      const isNew = this.operations.get(it.id) !== now.get(it.id)
      return isNew && (!this.isFirst || it.state === 'running')
    })
    this.operations = now
    return news.map((it) => ({ type: 'operation', data: now.get(it.id) as string, about: it }))
  }

  private newsOfQueues(all: readonly Queue[]): LiveEvent[] {
    const now = new Map(
      all.map(({ queue, counts, pausedAt }) => [queue, wireJson(toWire({ queue, counts, pausedAt }))]),
    )
    const news = [...now].filter(([queue, data]) => !this.isFirst && this.queues.get(queue) !== data)
    this.queues = now
    return news.map(([queue, data]) => ({ type: 'queue', data, about: { queues: [queue] } }))
  }
}

type Operation = NonNullable<Awaited<ReturnType<Client['operations']['get']>>>
type Queue = Awaited<ReturnType<Client['queues']['get']>>
