import { PayloadRefusedError, PayloadTooLargeError, SpillwayError } from './errors.js'
import { readExactly } from './read-json.js'
import { isStorable } from './text.js'
import { MAX_NESTING, writeJson } from './write-json.js'

/** 1 MiB. */
export const MAX_PAYLOAD_BYTES = 1024 * 1024

export interface EncodeOptions {
  /** In UTF-8. Default: 1 MiB. */
  readonly maxBytes?: number
  /** BigInts become integer literals of any size, instead of being refused. Default: false. */
  readonly bigint?: boolean
  /** What the message calls the value. Default: `payload`. */
  readonly what?: string
}

/**
 * The JSON text of `value`, exactly as the handler will read it back, or an error that names the place.
 *
 * | In | Out |
 * |---|---|
 * | string, finite number, boolean, null, plain object, array | the same |
 * | `Date` | its ISO text |
 * | anything with `toJSON()` | what that returns |
 * | `undefined`, a function or a symbol as a property | the property is left out |
 * | the same in an array | null |
 * | an instance of a class | its own enumerable properties |
 * | `-0` | 0 |
 * | `NaN`, `Infinity`, an invalid `Date` | refused |
 * | `BigInt` | refused; with `bigint`, an integer of any size |
 * | `Map`, `Set`, `Buffer`, typed arrays, `RegExp`, `Error`, `Promise` | refused: JSON would make them `{}` |
 * | U+0000 or half a surrogate pair, in a key too | refused |
 * | circular, or nested deeper than 1,000 | refused |
 * | `undefined`, a function or a symbol as the whole value | refused |
 *
 * @returns the text and its length in bytes.
 * @throws {@link PayloadRefusedError} `payload_refused` with `path`; {@link PayloadTooLargeError} `payload_too_large`.
 */
export function encodePayload(value: unknown, options: EncodeOptions = {}): { text: string; bytes: number } {
  const { maxBytes = MAX_PAYLOAD_BYTES, bigint = false, what = 'payload' } = options
  const chars = plainChars(value, 0)
  if (chars > maxBytes) throw new PayloadTooLargeError(chars, maxBytes, what)

  let text = chars < 0 ? writeJson(value, { bigint, what, maxBytes }) : JSON.stringify(value)
  if (text.includes('\\u') && SUSPECT.test(text)) text = writeJson(value, { bigint, what, maxBytes })
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes) throw new PayloadTooLargeError(bytes, maxBytes, what)
  return { text, bytes }
}

/** What a stored text reads as, or why this code must not read it. */
export type Decoded =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly path: string; readonly message: string }

/**
 * What the handler gets for a stored text: JSON.parse, but an integer whose digits JSON.parse would change is
 * never handed over silently: the answer names the first one. With `bigint`, integers beyond ±(2^53 − 1) arrive as
 * BigInt, up to 10,000 digits. Never throws.
 */
export function decodePayload(text: string, options: { readonly bigint?: boolean } = {}): Decoded {
  try {
    const value: unknown = JSON.parse(text)
    return MAY_ROUND.test(text) ? readExactly(text, options.bigint ?? false) : { ok: true, value }
  } catch (error) {
    return { ok: false, path: '', message: `the payload is no JSON: ${(error as Error).message}` }
  }
}

/** Sixteen digits in a row, or an exponent that may overflow: in a text, in most cases, and then read once more. */
const MAY_ROUND = /\d{16}|\d[eE]\+?\d{3}/

/** Longest queue, kind, tag or unique key, in characters. */
export const MAX_NAME_CHARS = 255

/** Names are printed in terminals and travel to stores beside each other, with control characters between them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f]/

/**
 * Checks a queue, kind, tag or unique key and gives it back.
 *
 * @throws {@link SpillwayError} `invalid_option` where it is no text, empty, longer than 255 characters, or holds
 *   U+0000 or half a surrogate pair.
 */
export function checkText(name: string, value: unknown): string {
  const problem =
    typeof value !== 'string'
      ? `is ${value === null ? 'null' : `of type ${typeof value}`}`
      : value.length === 0
        ? 'is empty'
        : value.length > MAX_NAME_CHARS
          ? `has ${value.length} characters`
          : !isStorable(value)
            ? 'holds U+0000 or half a surrogate pair'
            : CONTROL.test(value)
              ? 'holds a control character'
              : undefined
  if (problem === undefined) return value as string
  throw new SpillwayError(
    'invalid_option',
    `cannot use this ${name}: it ${problem}; 1 to 255 characters of text are accepted`,
  )
}

/** JSON.stringify writes U+0000 and lone surrogates as escapes; literal backslashes look alike and are told apart later. */
const SUSPECT = /\\u(?:0000|d[89a-f])/

/**
 * A lower bound for the characters of the JSON text, or -1 where `value` holds anything but plain data: then only
 * {@link writeJson} can tell what becomes of it. Looks at kinds alone, so that the common payload costs one light
 * walk beside JSON.stringify; and before it, because stringifying a 100 MB Buffer would end the process.
 */
function plainChars(value: unknown, depth: number): number {
  switch (typeof value) {
    case 'string':
      return value.length + 2
    case 'number':
      return Number.isFinite(value) ? 1 : -1
    case 'boolean':
      return 4
    case 'object':
      return value === null ? 4 : depth > MAX_NESTING ? -1 : plainObjectChars(value, depth)
    default:
      // An undefined property is ordinary; the whole value being undefined is not.
      return value === undefined && depth > 0 ? 0 : -1
  }
}

function plainObjectChars(value: object, depth: number): number {
  let chars = 2
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const inner = plainChars(value[i], depth + 1)
      if (inner < 0) return -1
      chars += inner
    }
    return chars
  }

  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Date.prototype) return Number.isNaN((value as Date).getTime()) ? -1 : 26
  if (prototype !== Object.prototype && prototype !== null) return -1
  for (const key in value) {
    const inner = plainChars((value as Record<string, unknown>)[key], depth + 1)
    if (inner < 0) return -1
    chars += inner === 0 ? 0 : inner + key.length + 3
  }
  return chars
}
