import { SpillwayError, shown } from './errors.js'
import { cutSecrets } from './secrets.js'
import { isStorable } from './text.js'

/** What stands where a value was hidden. */
export const MASK = '[masked]'

/** Keys whose values are hidden at any depth, however they are written: `apiKey`, `API_KEY`, `api-key`. */
const ENDINGS = ['password', 'passwd', 'passphrase', 'secret', 'authorization', 'credential', 'credentials']
/** Alone, or as the last word. */
const WORDS = [
  'token',
  'api_key',
  'access_key',
  'private_key',
  'client_key',
  'cvv',
  'cvc',
  'ssn',
  'iban',
  'card_number',
]
const WHOLE = ['pwd', 'cookie', 'set_cookie', 'pan']

/** The same for people, where `*` is any text. */
export const HIDDEN_KEYS: readonly string[] = [
  ...ENDINGS.map((it) => `*${it}`),
  ...WORDS.flatMap((it) => [it, `*_${it}`]),
  ...WHOLE,
]

const SECRET_KEYS = new RegExp(`^(?:.*(?:${anyOf(ENDINGS)})|(?:.*_)?(?:${anyOf(WORDS)})|${anyOf(WHOLE)})$`)

function anyOf(names: readonly string[]): string {
  return names.map((name) => name.replaceAll('_', '_?')).join('|')
}

const STEP = /^(?:\*|\*\*|[^.*]{1,255})$/

/** @throws `invalid_option` where it is no path: 1 to 20 keys, `*` or `**`, joined by dots. */
export function checkMaskPath(path: unknown): string {
  const steps = typeof path === 'string' ? path.split('.') : []
  const isFine = steps.length > 0 && steps.length <= 20 && steps.every((step) => STEP.test(step))
  if (isFine && isStorable(path as string) && steps.at(-1) !== '**') return path as string
  throw new SpillwayError(
    'invalid_option',
    `cannot hide ${shown(path)}: keys joined by dots are accepted, * for any key and ** for any number of them, as in card.number or **.ssn`,
  )
}

/** Hides places and secrets in values that users gave. */
export interface Masker {
  /** A copy in which every hidden place says {@link MASK}, and secrets of known shapes are cut out of texts. */
  mask(value: unknown): unknown
  /** Text of an error or a reason, without secrets of known shapes. */
  text(text: string): string
  /**
   * What somebody means who was shown `mask(stored)` and sends it back changed: hidden places keep what is stored.
   */
  restore(sent: unknown, stored: unknown): unknown
}

/** Paths are checked ones; the built-in keys are hidden besides. */
export function masker(paths: readonly string[]): Masker {
  const rules = paths.map((path) => path.split('.'))
  return {
    mask: (value) => masked(value, rules),
    text: cutSecrets,
    restore: (sent, stored) => restored(sent, stored, masked(stored, rules)),
  }
}

type Rules = readonly (readonly string[])[]

function masked(value: unknown, rules: Rules): unknown {
  if (typeof value === 'string') return cutSecrets(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item, n) => maskedEntry(String(n), item, rules))
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    // An own property also for `__proto__`.
    const entry = { value: maskedEntry(key, item, rules), writable: true, enumerable: true, configurable: true }
    Object.defineProperty(copy, key, entry)
  }
  return copy
}

function maskedEntry(key: string, value: unknown, rules: Rules): unknown {
  if (isSecretKey(key) && value !== null) return MASK
  const next: string[][] = []
  for (const rule of rules) {
    for (const rest of after(rule, key)) {
      if (rest.length === 0) return MASK
      next.push(rest)
    }
  }
  return masked(value, next)
}

/** What is left of a rule once `key` was passed; several, because `**` may stay or end. */
function after(rule: readonly string[], key: string): string[][] {
  const [step, ...rest] = rule
  if (step === '**') return [[...rule], ...after(rest, key)]
  return step === '*' || step === key ? [rest] : []
}

function isSecretKey(key: string): boolean {
  if (key.length > 100) return false
  const plain = key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-. ]/g, '_')
    .toLowerCase()
  return SECRET_KEYS.test(plain)
}

/** Where `sent` still says what was shown for a value that is not shown, the stored value. */
function restored(sent: unknown, stored: unknown, seen: unknown): unknown {
  if (typeof sent === 'string') return sent === seen && typeof stored !== 'undefined' ? stored : sent
  if (typeof sent !== 'object' || sent === null) return sent
  if (typeof stored !== 'object' || stored === null || typeof seen !== 'object' || seen === null) return sent
  const of = (value: object, key: string): unknown => (Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined)
  if (Array.isArray(sent)) {
    return sent.map((item: unknown, n) => restored(item, of(stored, String(n)), of(seen, String(n))))
  }
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(sent)) {
    const value = restored(item, of(stored, key), of(seen, key))
    Object.defineProperty(copy, key, { value, writable: true, enumerable: true, configurable: true })
  }
  return copy
}
