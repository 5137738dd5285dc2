import { cutSecrets } from '../job/secrets.js'
import { retryMs } from '../job/webhook-retries.js'
import { signWebhook } from '../job/webhook-signature.js'
import type { DueDelivery, Hooking, SendOutcome } from '../store/store.js'
import { post, type Resolve } from './post.js'

export interface SendingOptions {
  /** Whether webhooks may lead to addresses that are not of the public internet. Default: false. */
  readonly allowPrivate?: boolean
  /** For one request. Default: 10 s. */
  readonly timeoutMs?: number
  /** How names are looked up. */
  readonly resolve?: Resolve
}

type HookStore = Pick<Hooking, 'planDeliveries' | 'claimDeliveries' | 'recordSend' | 'releaseDelivery'>

const TIMEOUT_MS = 10_000
const IN_FLIGHT = 20
const PER_WEBHOOK = 4
const PLANS = 50
/** Tries of one delivery before it is given up, and failures in a row before a webhook is paused. */
const MAX_ATTEMPTS = 12
const PAUSE_AFTER = 12

/**
 * Sends what webhooks are to be told, some at a time, a slow receiver never in the way of the others. Nothing is held in
 * the database while a request is under way: whoever dies meanwhile leaves the delivery to be sent again a minute later.
 */
export class Sending {
  private readonly inFlight = new Map<string, number>()
  private readonly sends = new Set<Promise<void>>()
  private readonly stopped = new AbortController()

  constructor(
    private readonly store: HookStore,
    private readonly options: SendingOptions,
    /** Called when there is room for more. */
    private readonly onRoom: () => void = () => undefined,
    private readonly onError: (error: Error) => void = () => undefined,
  ) {}

  /** One look: makes deliveries of new events and begins to send what is due. Resolves with how many it began. */
  async pass(): Promise<number> {
    let plans = 0
    while (plans < PLANS && !this.stopped.signal.aborted && (await this.store.planDeliveries())) plans++
    const room = IN_FLIGHT - this.sends.size
    if (room <= 0 || this.stopped.signal.aborted) return 0
    const busy = [...this.inFlight].filter(([, n]) => n >= PER_WEBHOOK).map(([id]) => id)
    const due = await this.store.claimDeliveries(room, PER_WEBHOOK, busy)
    for (const delivery of due) this.begin(delivery)
    return due.length + (plans === PLANS ? 1 : 0)
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.sends.size > 0) await Promise.all(this.sends)
  }

  /** Calls off what is under way; it is due again at once. May be called twice. */
  async stop(): Promise<void> {
    this.stopped.abort()
    await this.idle()
  }

  private begin(delivery: DueDelivery): void {
    const { webhookId } = delivery
    this.inFlight.set(webhookId, (this.inFlight.get(webhookId) ?? 0) + 1)
    const sent = this.send(delivery)
      .catch((error: unknown) => this.onError(error as Error))
      .finally(() => {
        this.sends.delete(sent)
        const left = (this.inFlight.get(webhookId) ?? 1) - 1
        if (left > 0) this.inFlight.set(webhookId, left)
        else this.inFlight.delete(webhookId)
        this.onRoom()
      })
    this.sends.add(sent)
  }

  private async send(delivery: DueDelivery): Promise<void> {
    const outcome = await this.outcomeOf(delivery)
    if (outcome === undefined) return this.store.releaseDelivery(delivery)
    const tries = Math.max(delivery.attempt, delivery.failures + 1)
    await this.store.recordSend(delivery, outcome, {
      retryInMs: Math.round(retryMs(tries) * (0.9 + 0.2 * Math.random())),
      maxAttempts: MAX_ATTEMPTS,
      pauseAfter: PAUSE_AFTER,
    })
  }

  /** Undefined: it was called off. */
  private async outcomeOf(delivery: DueDelivery): Promise<SendOutcome | undefined> {
    const { url, body, messageId: id, secrets } = delivery
    if (body === null) return { ...failed(null, 'its events are older than the event log keeps them'), isLost: true }
    const { allowPrivate = false, timeoutMs = TIMEOUT_MS, resolve } = this.options
    const timestamp = Math.floor(Date.now() / 1000)
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'spillway-webhooks',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signWebhook({ id, timestamp, body }, secrets),
    }
    const { signal } = this.stopped
    try {
      const status = await post({ url, headers, body, timeoutMs, allowPrivate, signal, ...(resolve && { resolve }) })
      if (status >= 200 && status < 300) return { ok: true, status }
      const isRedirect = status >= 300 && status < 400
      return failed(status, isRedirect ? `answered ${status}; redirects are not followed` : `answered ${status}`)
    } catch (error) {
      if (signal.aborted) return undefined
      return failed(null, cutSecrets((error as Error).message || String(error)).slice(0, 300))
    }
  }
}

function failed(status: number | null, error: string) {
  return { ok: false, status, error, isGone: status === 410, isLost: false } as const
}
