import { createHmac, timingSafeEqual } from 'node:crypto'

/** How a webhook's secret begins, so that it is known for one where it should not be. */
export const SECRET_PREFIX = 'whsec_'
/** How far the clocks of sender and receiver may be apart; an older request may be a replay. */
const TOLERANCE_MS = 5 * 60_000

/** Headers of a request, as Node, Fetch or a framework has them. */
export type WebhookHeaders =
  | Readonly<Record<string, string | readonly string[] | undefined>>
  | { get(name: string): string | null }

export interface SignedMessage {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/** The `webhook-signature` of a message: one signature for each secret, as Standard Webhooks has it. */
export function signWebhook(message: SignedMessage, secrets: readonly string[]): string {
  return secrets.map((secret) => `v1,${signatureOf(message, secret).toString('base64')}`).join(' ')
}

/**
 * Whether a webhook came from who has the secret, and less than 5 minutes ago. Compares in constant time.
 *
 * @param body - The body as it came, byte for byte: parsed and written again it is another one.
 * @param secrets - The webhook's secret, or all that hold while it is changed.
 * @param now - Ms since 1970. Default: this process's clock.
 * @returns the `webhook-id`, the same at every try of one message; undefined where the signature does not hold.
 *
 * @example
 * const id = verifyWebhook(body, request.headers, process.env.SPILLWAY_WEBHOOK_SECRET)
 * if (id === undefined) return reply.status(401).send()
 */
export function verifyWebhook(
  body: string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  now: number = Date.now(),
): string | undefined {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  if (id === undefined || signatures === undefined || !/^\d{1,12}$/.test(timestamp ?? '')) return undefined
  const seconds = Number(timestamp)
  if (Math.abs(now - seconds * 1000) > TOLERANCE_MS) return undefined
  const given = signatures
    .split(' ')
    .flatMap((it) => (it.startsWith('v1,') ? [Buffer.from(it.slice(3), 'base64')] : []))
  const expected = (typeof secrets === 'string' ? [secrets] : secrets).map((secret) =>
    signatureOf({ id, timestamp: seconds, body }, secret),
  )
  const holds = expected.some((one) => given.some((it) => it.length === one.length && timingSafeEqual(it, one)))
  return holds ? id : undefined
}

function signatureOf({ id, timestamp, body }: SignedMessage, secret: string): Buffer {
  const key = Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64')
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (isFetchHeaders(headers)) return headers.get(name) ?? undefined
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === 'string' ? found : found?.[0]
}

function isFetchHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}
