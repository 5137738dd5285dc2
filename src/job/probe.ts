import { storable } from './text.js'

/** What any thrown value says about itself, unbounded and as it is. */
export interface Probe {
  readonly name: string
  /** Never empty. */
  readonly message: string
  /** Empty where there is none. */
  readonly stack: string
  readonly code: string | null
  /** Whether there are errors behind it. */
  readonly hasMore: boolean
}

/** Reads a thrown value without ever throwing, whatever its getters and Proxies do. */
export function probe(thrown: unknown): Probe {
  if (thrown === null || (typeof thrown !== 'object' && typeof thrown !== 'function')) {
    return { name: 'NonError', message: primitiveMessage(thrown), stack: '', code: null, hasMore: false }
  }

  const message = textOf(thrown, 'message')
  const name = nameOf(thrown)
  return {
    name,
    message: message === '' ? emptyMessage(thrown, name) : message,
    stack: textOf(thrown, 'stack'),
    code: codeOf(thrown),
    hasMore: isSet(read(thrown, 'cause')) || isSet(read(thrown, 'errors')),
  }
}

function primitiveMessage(value: unknown): string {
  if (typeof value === 'string') return value.trim() === '' ? `thrown: ${JSON.stringify(value.slice(0, 20))}` : value
  return `thrown: ${String(value)}`
}

/** For an object that has no message: the beginning of what it holds. */
function emptyMessage(thrown: object, name: string): string {
  if (typeof thrown === 'function') return 'thrown: a function'
  const held = preview(thrown)
  return held === '' ? `${name} without a message` : `${name} without a message: ${held}`
}

/** The first ten own properties with a simple value, as `{ a: 1, b: "x" }`. */
function preview(thrown: object): string {
  try {
    const shown: string[] = []
    for (const key of Object.keys(thrown).slice(0, 10)) {
      const value = read(thrown, key)
      const text =
        typeof value === 'object' && value !== null
          ? '…'
          : typeof value === 'string'
            ? JSON.stringify(value.slice(0, 100))
            : String(value).slice(0, 100)
      shown.push(`${key.slice(0, 100)}: ${text}`)
    }
    return shown.length === 0 ? '' : `{ ${shown.join(', ')} }`
  } catch {
    // A Proxy that refuses to list its keys: there is nothing to show.
    return ''
  }
}

function nameOf(thrown: object): string {
  const name = textOf(thrown, 'name')
  if (name !== '' && name !== 'Error' && typeof thrown !== 'function') return clean(name, 200)
  const made = read(thrown, 'constructor')
  const className = typeof made === 'function' ? textOf(made, 'name') : ''
  if (className !== '' && className !== 'Object' && className !== 'Function') return clean(className, 200)
  return name === 'Error' ? name : 'NonError'
}

function codeOf(thrown: object): string | null {
  const response = read(thrown, 'response')
  const status = typeof response === 'object' && response !== null ? read(response, 'status') : undefined
  if (typeof status === 'number') return String(status)
  for (const key of CODE_KEYS) {
    const code = read(thrown, key)
    if (typeof code === 'string' && code !== '') return clean(code, 100)
    if (typeof code === 'number') return String(code)
  }
  return null
}

const CODE_KEYS = ['code', 'statusCode', 'status'] as const

/** A property, or undefined where reading it throws. */
export function read(object: object, key: string | number): unknown {
  try {
    return (object as Record<string | number, unknown>)[key]
  } catch {
    return undefined
  }
}

function textOf(object: object, key: string): string {
  const value = read(object, key)
  return typeof value === 'string' ? value : ''
}

/** Neither undefined nor null. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}

function clean(text: string, maxChars: number): string {
  return storable(text.length > maxChars ? text.slice(0, maxChars) : text)
}
