import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type Duration, parseDuration } from '../job/duration.js'
import { SpillwayError } from '../job/errors.js'
import type { EventType } from '../job/event-types.js'
import { checkText } from '../job/payload.js'
import { isPublicAddress } from '../job/public-address.js'
import { cutSecrets } from '../job/secrets.js'
import type { WebhookSettings } from '../store/store.js'
import { checkTypes } from './events.js'

export interface WebhookOptions {
  /** `https://…` or `http://…`, without user and password. Its host must have public addresses only. */
  readonly url: string
  readonly description?: string | null | undefined
  /** Which events it is told of. Default: all of them. */
  readonly types?: readonly EventType[] | null | undefined
  readonly queues?: readonly string[] | null | undefined
  readonly kinds?: readonly string[] | null | undefined
  readonly reasons?: readonly string[] | null | undefined
  /** One request for all events of this time, with counts, instead of one for each. Default: none. */
  readonly digest?: Duration | null | undefined
  /** How many events a digest shows beside its counts, 0 to 100. Default: 10. */
  readonly digestEvents?: number | undefined
}

const LONGEST_URL = 2_000
const DEFAULTS: WebhookSettings = {
  url: '',
  description: null,
  types: null,
  queues: null,
  kinds: null,
  reasons: null,
  digestMs: null,
  digestEvents: 10,
}

/** What is given of the settings, checked but for where the url leads. @throws `invalid_option` */
export function checkSettings(options: Partial<WebhookOptions>): Partial<WebhookSettings> {
  const { url, description, types, queues, kinds, reasons, digest, digestEvents } = options
  return {
    ...(url === undefined ? {} : { url: checkUrl(url).href }),
    ...(description === undefined
      ? {}
      : { description: description === null ? null : checkText('description', description) }),
    ...(types === undefined ? {} : { types: types === null ? null : checkTypes(types) }),
    ...(queues === undefined ? {} : { queues: texts('queue', queues) }),
    ...(kinds === undefined ? {} : { kinds: texts('kind', kinds) }),
    ...(reasons === undefined
      ? {}
      : { reasons: texts('reason', reasons)?.map((it) => SEED_REASONS[it] ?? it) ?? null }),
    ...(digest === undefined ? {} : { digestMs: digest === null ? null : parseDuration(digest, 'digest') }),
    ...(digestEvents === undefined ? {} : { digestEvents: checkCount(digestEvents) }),
  }
}

/** All of the settings, with defaults. @throws `invalid_option` */
export function completeSettings(options: WebhookOptions): WebhookSettings {
  return { ...DEFAULTS, ...checkSettings({ ...options, url: options.url ?? '' }) }
}

/** Names that other systems have for the same reasons. */
const SEED_REASONS: Readonly<Record<string, string>> = {
  max_attempts: 'attempts_exhausted',
  deadline_expired: 'deadline_exceeded',
}

/**
 * Refuses a url whose host has an address that is not of the public internet. It is checked again whenever something is
 * sent: a name may lead elsewhere by then.
 *
 * @throws `invalid_option`
 */
export async function checkTarget(url: string): Promise<void> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  const addresses = isIP(host) > 0 ? [host] : await addressesOf(host)
  const refused = addresses.find((address) => !isPublicAddress(address))
  if (refused === undefined) return
  throw new SpillwayError(
    'invalid_option',
    `cannot use ${host} for a webhook: ${refused} is no public address; whoever runs the workers can allow private ones`,
  )
}

async function addressesOf(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new SpillwayError('invalid_option', `cannot use ${host} for a webhook: it has no address (${code})`, {
      cause: error,
    })
  }
}

function checkUrl(text: unknown): URL {
  const url = typeof text === 'string' && text.length <= LONGEST_URL ? parse(text) : undefined
  const isFine = url !== undefined && (url.protocol === 'https:' || url.protocol === 'http:') && url.hostname !== ''
  if (isFine && url.username === '' && url.password === '') return url
  const shown = typeof text === 'string' ? cutSecrets(text.slice(0, 100)) : typeof text
  throw new SpillwayError(
    'invalid_option',
    `cannot send webhooks to ${JSON.stringify(shown)}: an https:// or http:// url of at most ${LONGEST_URL} characters, without user and password, is accepted`,
  )
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    // No url: refused by the caller, as every other wrong one.
    return undefined
  }
}

function texts(name: string, list: readonly string[] | null): readonly string[] | null {
  if (list === null) return null
  if (Array.isArray(list) && list.length > 0 && list.length <= 100)
    return [...new Set(list.map((it) => checkText(name, it)))]
  throw new SpillwayError(
    'invalid_option',
    `cannot filter by this list of ${name}s: 1 to 100 texts, or null for all, are accepted`,
  )
}

function checkCount(n: unknown): number {
  if (Number.isInteger(n) && (n as number) >= 0 && (n as number) <= 100) return n as number
  throw new SpillwayError('invalid_option', `cannot show ${String(n)} events in a digest: 0 to 100 are accepted`)
}
