import { PayloadRefusedError, PayloadTooLargeError } from './errors.js'
import { isStorable } from './text.js'

export interface WriteOptions {
  readonly bigint: boolean
  readonly what: string
  readonly maxBytes: number
}

/** Deeper data is refused: PostgreSQL's own reader ends not far above. */
export const MAX_NESTING = 1000

/**
 * JSON.stringify that refuses, naming the path, what JSON would change or the store cannot keep (the table is at
 * `encodePayload`). Several times slower: only for values that are not plain data.
 *
 * @throws PayloadRefusedError, PayloadTooLargeError
 */
export function writeJson(value: unknown, options: WriteOptions): string {
  const writer = new Writer(options)
  writer.write(value, '', '')
  return writer.text
}

class Writer {
  text = ''
  /** Objects the walk is inside of: meeting one again is a cycle, meeting it beside itself is not. */
  private readonly open = new Set<object>()

  constructor(private readonly options: WriteOptions) {}

  /** Writes `value`; false where JSON leaves it out. */
  write(value: unknown, path: string, key: string): boolean {
    const plain = this.replaced(value, path, key)
    switch (typeof plain) {
      case 'string':
        this.add(this.quoted(plain, path))
        return true
      case 'number':
        if (!Number.isFinite(plain)) this.refuse(path, `is ${plain}; JSON has no such number, send null or a text`)
        this.add(JSON.stringify(plain))
        return true
      case 'boolean':
        this.add(String(plain))
        return true
      case 'bigint':
        if (!this.options.bigint) this.refuse(path, 'is a BigInt; send a text, or define the kind with bigint: true')
        this.add(String(plain))
        return true
      case 'object':
        if (plain === null) this.add('null')
        else this.writeObject(plain, path)
        return true
      default:
        if (path === '')
          this.refuse(path, `is ${plain === undefined ? 'undefined' : `a ${typeof plain}`}; JSON has none, send null`)
        return false
    }
  }

  private writeObject(value: object, path: string): void {
    const exotic = exoticName(value)
    if (exotic !== undefined)
      this.refuse(path, `is a ${exotic}, which JSON would empty; send an array, a plain object or a text`)
    if (this.open.has(value)) this.refuse(path, 'contains itself; send data without cycles')
    if (this.open.size >= MAX_NESTING) this.refuse(path, `is nested deeper than ${MAX_NESTING}; send flatter data`)

    this.open.add(value)
    if (Array.isArray(value)) this.writeArray(value, path)
    else if (value instanceof Number || value instanceof String || value instanceof Boolean)
      this.write(value.valueOf(), path, '')
    else this.writeProperties(value as Record<string, unknown>, path)
    this.open.delete(value)
  }

  private writeArray(items: readonly unknown[], path: string): void {
    this.add('[')
    for (let i = 0; i < items.length; i++) {
      if (i > 0) this.add(',')
      if (!this.write(items[i], `${path}[${i}]`, String(i))) this.add('null')
    }
    this.add(']')
  }

  private writeProperties(properties: Readonly<Record<string, unknown>>, path: string): void {
    let before = '{'
    for (const key of Object.keys(properties)) {
      const start = this.text
      const inner = childPath(path, key)
      this.add(`${before}${this.quoted(key, inner)}:`)
      if (this.write(properties[key], inner, key)) before = ','
      else this.text = start
    }
    this.add(before === '{' ? '{}' : '}')
  }

  /** What stands for `value` by JSON's own rule: the answer of its toJSON. */
  private replaced(value: unknown, path: string, key: string): unknown {
    if ((typeof value !== 'object' && typeof value !== 'bigint') || value === null) return value
    if (value instanceof Date && Number.isNaN(value.getTime()))
      this.refuse(path, 'is an invalid Date; send null or a valid one')
    // A Buffer has a toJSON, of four bytes for each of its own.
    if (ArrayBuffer.isView(value)) return value
    try {
      const { toJSON } = value as { toJSON?: unknown }
      return typeof toJSON === 'function' ? (toJSON.call(value, key) as unknown) : value
    } catch (cause) {
      throw new PayloadRefusedError(path, 'has a toJSON that throws; send plain data', this.options.what, { cause })
    }
  }

  private quoted(text: string, path: string): string {
    if (!isStorable(text)) this.refuse(path, 'holds U+0000 or half a surrogate pair; send the bytes as base64')
    return JSON.stringify(text)
  }

  private add(text: string): void {
    this.text += text
    const { maxBytes, what } = this.options
    if (this.text.length > maxBytes) throw new PayloadTooLargeError(this.text.length, maxBytes, what)
  }

  private refuse(path: string, problem: string): never {
    throw new PayloadRefusedError(path, problem, this.options.what)
  }
}

/** `items[3]["first name"].id` */
export function childPath(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$]{0,99}$/.test(key)) return `${path}[${JSON.stringify(key.slice(0, 100))}]`
  return path === '' ? key : `${path}.${key}`
}

/** The name of a built-in class whose content JSON does not see. */
function exoticName(value: object): string | undefined {
  if (ArrayBuffer.isView(value)) return value.constructor.name
  return EXOTIC.find((type) => value instanceof type)?.name
}

const EXOTIC = [Map, Set, WeakMap, WeakSet, RegExp, Error, Promise, ArrayBuffer, SharedArrayBuffer]
