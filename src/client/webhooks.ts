import { randomBytes } from 'node:crypto'
import { type Duration, parseDuration } from '../job/duration.js'
import { SpillwayError } from '../job/errors.js'
import { cutSecrets } from '../job/secrets.js'
import { SECRET_PREFIX } from '../job/webhook-signature.js'
import type { Delivery, DeliveryFilter, Store, StoredWebhook } from '../store/store.js'
import { type ActOptions, actOf } from './act.js'
import { Listing, type ListOptions } from './listing.js'
import { checkSettings, checkTarget, completeSettings, type WebhookOptions } from './webhook-options.js'

/** A webhook as it is shown: its secrets by their last characters only, secrets in its url cut out. */
export interface Webhook extends Omit<StoredWebhook, 'secrets'> {
  /** The newest first, masked, and until when each holds; null: for good. */
  readonly secrets: readonly { readonly ending: string; readonly until: Date | null }[]
}

/** A webhook with a new secret: this is the only time it is shown. */
export interface WebhookWithSecret extends Webhook {
  readonly secret: string
}

export interface WebhookChanges extends Partial<WebhookOptions> {
  /** true: nothing is sent until it is false; what happens meanwhile is sent then, as far as the event log goes back. */
  readonly paused?: boolean | undefined
  /** Makes a new secret; requests are signed with both for this long. true is 24 h, 0 drops the old one at once. */
  readonly rotateSecret?: true | Duration | undefined
}

export interface WebhooksOptions {
  /** Whether urls may lead to private addresses. */
  readonly allowPrivate: boolean
  /** Sends what is due now, without waiting for a worker. */
  readonly sendDue: () => Promise<void>
}

const KEEP_MS = 24 * 3_600_000

/**
 * Requests to a url of yours for what the event log tells of: signed, at least once, with the same id at every try,
 * tried again for a day and a half. Workers send them.
 */
export class Webhooks {
  constructor(
    private readonly store: Store,
    private readonly actor: string,
    private readonly options: WebhooksOptions,
  ) {}

  /**
   * Makes a webhook, beginning with the next event.
   *
   * @returns it with its `secret`, which is shown only now: receivers check signatures with it.
   * @throws `invalid_option` for what cannot be used, also a url that leads to an address that is not public.
   *
   * @example
   * const { id, secret } = await spillway.webhooks.create({ url: 'https://ops.example.com/dead', types: ['died'] })
   */
  async create(options: WebhookOptions, act: ActOptions = {}): Promise<WebhookWithSecret> {
    const settings = completeSettings(options)
    await this.checkTarget(settings.url)
    const secret = newSecret()
    const webhook = await this.store.createWebhook(settings, secret, actOf(this.actor, act))
    return { ...shownWebhook(webhook), secret }
  }

  /** Every webhook, oldest first. */
  async list(): Promise<readonly Webhook[]> {
    return (await this.store.listWebhooks()).map(shownWebhook)
  }

  async get(id: string): Promise<Webhook | undefined> {
    const webhook = await this.store.getWebhook(String(id))
    return webhook && shownWebhook(webhook)
  }

  /**
   * Changes what is named. `paused: false` lets one go on that was paused, by hand or because it kept failing.
   *
   * @returns it, with `secret` where that was rotated. @throws `not_found`, `invalid_option`
   */
  async update(id: string, changes: WebhookChanges, act: ActOptions = {}): Promise<Webhook | WebhookWithSecret> {
    const { paused, rotateSecret, ...options } = changes
    const settings = checkSettings(options)
    if (settings.url !== undefined) await this.checkTarget(settings.url)
    const rotate = rotateSecret === undefined ? undefined : { secret: newSecret(), keepMs: keepMsOf(rotateSecret) }
    const patch = {
      ...settings,
      ...(paused === undefined ? {} : { paused: checkPaused(paused) }),
      ...(rotate === undefined ? {} : { rotate }),
    }
    if (Object.keys(patch).length === 0) {
      throw new SpillwayError('invalid_option', `cannot change webhook ${id}: nothing was named that is to change`)
    }
    const webhook = shownWebhook(await this.store.updateWebhook(String(id), patch, actOf(this.actor, act)))
    return rotate === undefined ? webhook : { ...webhook, secret: rotate.secret }
  }

  /** Removes it with its deliveries; nothing more is sent. @throws `not_found` */
  async delete(id: string, act: ActOptions = {}): Promise<void> {
    await this.store.deleteWebhook(String(id), actOf(this.actor, act))
  }

  /**
   * Sends a message of type `test` now, also while the webhook is paused. A failed one is not tried again and counts for
   * nothing.
   *
   * @returns what became of it. @throws `not_found`
   */
  async test(id: string, act: ActOptions = {}): Promise<Delivery> {
    const { id: delivery } = await this.store.testWebhook(String(id), actOf(this.actor, act))
    return this.sent(delivery)
  }

  /** What was sent or is to be sent, newest first; those that were delivered go after 3 days, dead ones after 30. */
  deliveries(filter: DeliveryFilter = {}, options: ListOptions = {}): Listing<Delivery> {
    const { webhookId, state } = filter
    const named = { ...(webhookId === undefined ? {} : { webhookId }), ...(state === undefined ? {} : { state }) }
    if (state !== undefined && !['pending', 'delivered', 'dead'].includes(state)) {
      throw new SpillwayError(
        'invalid_option',
        `cannot list deliveries in state ${JSON.stringify(state)}: pending, delivered and dead are accepted`,
      )
    }
    return new Listing((page) => this.store.listDeliveries(named, page), options)
  }

  /**
   * Sends a delivery once more, under the same message id, whatever became of it before. Where its webhook is paused it
   * waits until that goes on.
   *
   * @returns what became of it. @throws `not_found`
   */
  async redeliver(deliveryId: string, act: ActOptions = {}): Promise<Delivery> {
    const { id } = await this.store.redeliver(String(deliveryId), actOf(this.actor, act))
    return this.sent(id)
  }

  private async sent(id: string): Promise<Delivery> {
    await this.options.sendDue()
    const delivery = await this.store.getDelivery(id)
    if (delivery) return delivery
    throw new SpillwayError('not_found', `cannot find delivery ${id}: its webhook was removed meanwhile`)
  }

  private async checkTarget(url: string): Promise<void> {
    if (!this.options.allowPrivate) await checkTarget(url)
  }
}

function shownWebhook({ secrets, ...webhook }: StoredWebhook): Webhook {
  return {
    ...webhook,
    url: cutSecrets(webhook.url),
    secrets: secrets.map(({ secret, until }) => ({ ending: `…${secret.slice(-4)}`, until })),
  }
}

function newSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(32).toString('base64')}`
}

function keepMsOf(rotate: true | Duration): number {
  if (rotate === true) return KEEP_MS
  return rotate === 0 || rotate === '0' ? 0 : parseDuration(rotate, 'rotateSecret')
}

function checkPaused(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw new SpillwayError('invalid_option', `cannot use ${String(value)} as paused: true or false is accepted`)
}
