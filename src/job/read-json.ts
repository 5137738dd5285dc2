import { childPath } from './write-json.js'

type Exactly =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly path: string; readonly message: string }

/**
 * Reads JSON number by number, so that no integer is rounded: with `bigint` those beyond ±(2^53 − 1) become BigInt,
 * without it the first one whose digits JSON.parse would change is the answer. `text` must be one that JSON.parse has accepted. Ten times slower
 * than JSON.parse: only for texts that hold long numbers.
 */
export function readExactly(text: string, bigint: boolean): Exactly {
  try {
    return { ok: true, value: new Reader(text, bigint).read('') }
  } catch (error) {
    if (error instanceof Rounded) return { ok: false, path: error.path, message: error.message }
    throw error
  }
}

/** Carries the place out of the recursion; never leaves this file. */
class Rounded extends Error {
  constructor(
    readonly path: string,
    literal: string,
  ) {
    const shown = literal.length > 40 ? `${literal.slice(0, 40)}…` : literal
    super(
      `${path === '' ? 'the payload' : `\`${path}\``} is ${shown}, which JavaScript would round; define the kind with bigint: true, or store it as text`,
    )
  }
}

const SPACE = /[\s,:]*/y
const STRING = /"(?:[^"\\]+|\\.)*"/y
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['t', true],
  ['f', false],
  ['n', null],
])

class Reader {
  private at = 0

  constructor(
    private readonly text: string,
    private readonly bigint: boolean,
  ) {}

  read(path: string): unknown {
    this.skip()
    const first = this.text[this.at] ?? ''
    if (first === '{') return this.readObject(path)
    if (first === '[') return this.readArray(path)
    if (first === '"') return JSON.parse(this.take(STRING))
    if (WORDS.has(first)) {
      this.at += first === 'f' ? 5 : 4
      return WORDS.get(first)
    }
    return this.number(this.take(NUMBER), path)
  }

  private readObject(path: string): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    this.at++
    while (!this.ends('}')) {
      const key = JSON.parse(this.take(STRING)) as string
      const value = this.read(childPath(path, key))
      // An own property also for `__proto__`, as JSON.parse does it.
      Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
    }
    return object
  }

  private readArray(path: string): unknown[] {
    const array: unknown[] = []
    this.at++
    while (!this.ends(']')) array.push(this.read(`${path}[${array.length}]`))
    return array
  }

  private number(literal: string, path: string): number | bigint {
    const value = Number(literal)
    const isInteger = /^-?\d+$/.test(literal)
    if (Number.isSafeInteger(value) || (!isInteger && Number.isFinite(value))) return value
    // BigInt of very many digits is slow.
    if (this.bigint && isInteger && literal.length < 10_000) return BigInt(literal)
    if (isInteger && isKept(literal, value)) return value
    throw new Rounded(path, literal)
  }

  private ends(closing: string): boolean {
    this.skip()
    if (this.text[this.at] !== closing) return false
    this.at++
    return true
  }

  private skip(): void {
    this.take(SPACE)
  }

  private take(token: RegExp): string {
    token.lastIndex = this.at
    const found = token.exec(this.text)?.[0] ?? ''
    this.at += found.length
    return found
  }
}

/** Whether `value` is written as `literal` again, or is the same integer to the last digit. */
function isKept(literal: string, value: number): boolean {
  return String(value) === literal || (literal.length < 400 && BigInt(literal) === BigInt(value))
}
