import type { Act } from './act.js'
import type { Page, PageRequest } from './page.js'

/** Which events a webhook is told of, and how. Null is all of them. */
export interface WebhookSettings {
  readonly url: string
  readonly description: string | null
  readonly types: readonly string[] | null
  readonly queues: readonly string[] | null
  readonly kinds: readonly string[] | null
  readonly reasons: readonly string[] | null
  /** One request for all events of so many ms; null: one for each event. */
  readonly digestMs: number | null
  /** How many events a digest shows beside its counts. */
  readonly digestEvents: number
}

export interface StoredWebhook extends WebhookSettings {
  readonly id: string
  readonly state: 'active' | 'paused'
  /** Why it is paused. */
  readonly stateReason: string | null
  /** Up to which position of the event log deliveries were made. */
  readonly position: string
  /** Tries in a row that failed. */
  readonly failures: number
  readonly lastError: string | null
  /** Deliveries that are still to be sent, and those that were given up. */
  readonly pending: number
  readonly dead: number
  readonly secrets: readonly WebhookSecret[]
  readonly createdBy: string
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface WebhookSecret {
  readonly secret: string
  /** Until when requests are signed with it; null: for good. */
  readonly until: Date | null
}

export interface WebhookPatch extends Partial<WebhookSettings> {
  readonly paused?: boolean
  /** A new secret; the one before is signed with for so long. */
  readonly rotate?: { readonly secret: string; readonly keepMs: number }
}

/** One message to a webhook, whatever became of it. */
export interface Delivery {
  readonly id: string
  readonly webhookId: string
  /** The same at every try: the receiver's key against doing things twice. */
  readonly messageId: string
  readonly type: 'event' | 'digest' | 'test'
  readonly state: 'pending' | 'delivered' | 'dead'
  readonly attempts: number
  readonly nextAt: Date | null
  readonly lastStatus: number | null
  readonly lastError: string | null
  readonly createdAt: Date
  readonly endedAt: Date | null
}

export interface DeliveryFilter {
  readonly webhookId?: string
  readonly state?: Delivery['state']
}

/** A delivery somebody has taken to send now. */
export interface DueDelivery {
  readonly id: string
  readonly webhookId: string
  readonly messageId: string
  readonly type: Delivery['type']
  /** Of this try, from 1. */
  readonly attempt: number
  /** Failures of the webhook in a row when it was taken. */
  readonly failures: number
  readonly url: string
  readonly secrets: readonly string[]
  /** JSON text; null: its events are not in the log any more. */
  readonly body: string | null
}

export type SendOutcome =
  | { readonly ok: true; readonly status: number }
  | {
      readonly ok: false
      readonly status: number | null
      readonly error: string
      /** The receiver is not there any more, for good. */
      readonly isGone: boolean
      /** There is nothing to send any more: not the receiver's fault. */
      readonly isLost: boolean
    }

/** How failures are dealt with. */
export interface SendTerms {
  readonly retryInMs: number
  readonly maxAttempts: number
  /** Failures in a row after which the webhook is paused. */
  readonly pauseAfter: number
}

export interface Hooking {
  createWebhook(settings: WebhookSettings, secret: string, act: Act): Promise<StoredWebhook>
  listWebhooks(): Promise<readonly StoredWebhook[]>
  getWebhook(id: string): Promise<StoredWebhook | undefined>
  /** @throws `not_found` */
  updateWebhook(id: string, patch: WebhookPatch, act: Act): Promise<StoredWebhook>
  /** With its deliveries. @throws `not_found` */
  deleteWebhook(id: string, act: Act): Promise<void>
  /** A message about nothing, sent also while the webhook is paused. @throws `not_found` */
  testWebhook(id: string, act: Act): Promise<Delivery>
  /** Newest first. */
  listDeliveries(filter: DeliveryFilter, page: PageRequest): Promise<Page<Delivery>>
  getDelivery(id: string): Promise<Delivery | undefined>
  /** Any delivery, to be sent once more under the same message id. @throws `not_found` */
  redeliver(id: string, act: Act): Promise<Delivery>

  /** Makes deliveries of new events for one webhook that is behind; false when none is. */
  planDeliveries(): Promise<boolean>
  /** Takes what is due, each for a minute: whoever dies meanwhile has it sent again by another. */
  claimDeliveries(limit: number, perWebhook: number, except: readonly string[]): Promise<readonly DueDelivery[]>
  /** What became of a try. One that was taken again meanwhile is not touched. */
  recordSend(delivery: DueDelivery, outcome: SendOutcome, terms: SendTerms): Promise<void>
  /** The try did not take place: it is due again. */
  releaseDelivery(delivery: DueDelivery): Promise<void>
}
