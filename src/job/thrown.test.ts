import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeThrown, MAX_MESSAGE_BYTES, MAX_STACK_BYTES } from './thrown.js'

const hostile = new Proxy(
  {},
  { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap, getOwnPropertyDescriptor: trap },
)
const throwingGetters = Object.defineProperties(new Error('x'), {
  stack: { get: trap }, // first: defining it reads the name
  message: { get: trap },
  name: { get: trap },
  cause: { get: trap },
})
const { proxy: revoked, revoke } = Proxy.revocable({}, {})
revoke()
const circular: Record<string, unknown> = {}
circular.self = circular
circular.message = circular

function trap(): never {
  throw new Error('trap')
}

/** Made inside the test: even the runner's printing of them throws. */
const ANYTHING: [string, () => unknown][] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['an empty string', () => ''],
  ['blanks', () => ' \n'],
  ['0', () => 0],
  ['a BigInt', () => 10n ** 30n],
  ['a symbol', () => Symbol()],
  ['a function', () => () => 1],
  ['a class', () => class {}],
  ['{}', () => ({})],
  ['{message: 5}', () => ({ message: 5 })],
  ['{message: ""}', () => ({ message: '' })],
  ['an object without prototype', () => Object.create(null)],
  ['an Error without a message', () => new Error('')],
  ['an Error whose getters throw', () => throwingGetters],
  ['a Proxy that throws at everything', () => hostile],
  ['a Proxy of a function that throws at everything', () => new Proxy(() => 1, { get: trap, ownKeys: trap })],
  ['a revoked Proxy', () => revoked],
  ['a circular object', () => circular],
  ['an array', () => [1, 2]],
  [
    'an Error with symbols everywhere',
    () => Object.assign(new Error('x'), { name: Symbol(), code: Symbol(), cause: Symbol() }),
  ],
  ['errors with a lying length', () => ({ errors: { length: Number.POSITIVE_INFINITY } })],
]

describe('describing anything thrown', () => {
  it.each(ANYTHING)('%s has a name and a message, and can be stored', (_, thrown) => {
    const record = describeThrown(thrown())

    expect(record.message).toMatch(/\S/)
    expect(record.name).toMatch(/\S/)
    expect(JSON.stringify(record).length).toBeLessThan(60_000)
    expect(JSON.stringify(record)).not.toMatch(/\\u0000|\\ud[89a-f]/)
  })

  it('whatever it is', () => {
    const any = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withTypedArray: true,
    })

    fc.assert(
      fc.property(
        any,
        fc.record({ message: any, name: any, stack: any, code: any, cause: any, errors: any }),
        (thrown, fields) => {
          for (const value of [thrown, fields, Object.assign(new Error('x'), fields)]) {
            const text = JSON.stringify(describeThrown(value))

            expect(text).not.toMatch(/\\u0000|\\ud[89a-f]/)
            expect(text).toMatch(/"message":"[^"]/)
          }
        },
      ),
    )
  })

  it('keeps what an error says about itself', () => {
    class CardDeclined extends Error {
      code = 'declined'
    }

    expect(describeThrown(new CardDeclined('no funds'))).toEqual({
      name: 'CardDeclined',
      message: 'no funds',
      stack: expect.stringContaining('thrown.test'),
      code: 'declined',
      cause: [],
      truncated: false,
    })
  })

  it('keeps a thrown string as it is', () => {
    expect(describeThrown('smtp down')).toMatchObject({ name: 'NonError', message: 'smtp down', stack: null })
    expect(describeThrown(undefined).message).toBe('thrown: undefined')
    expect(describeThrown({ message: 5, to: 'a' }).message).toBe('NonError without a message: { message: 5, to: "a" }')
  })

  it('takes the status of an HTTP client, and nothing else of the response', () => {
    const response = { status: 503, headers: { authorization: 'Bearer abcdefghijkl' }, request: {} as unknown }
    response.request = response
    const error = Object.assign(new Error('Request failed'), { code: 'ERR_BAD_RESPONSE', response, config: response })

    expect(describeThrown(error).code).toBe('503')
    expect(JSON.stringify(describeThrown(error))).not.toContain('abcdefghijkl')
    expect(describeThrown(Object.assign(new Error('x'), { statusCode: 404 })).code).toBe('404')
  })
})

describe('text that cannot be stored', () => {
  it('shows U+0000 and half surrogate pairs in message, stack, name and cause', () => {
    const error = new Error('a\u0000b\ud800c', { cause: new Error('d\u0000') })
    error.name = 'N\u0000'
    const record = describeThrown(error)

    expect(record.message).toBe('a␀b\ufffdc')
    expect(record.name).toBe('N␀')
    expect(record.stack).toContain('a␀b\ufffdc')
    expect(record.cause[0]?.message).toBe('d␀')
  })

  it.each(['👩‍👩‍👧', '\u{10ffff}', 'literal \\u0000', 'ÿþ'])('leaves %s alone', (text) => {
    expect(describeThrown(new Error(text)).message).toBe(text)
  })
})

describe('what is large', () => {
  it('is cut, says so, and keeps the frames below a long message', () => {
    const started = process.cpuUsage()
    const record = describeThrown(new Error(Buffer.alloc(10_000_000, 'x').toString()))

    expect(Buffer.byteLength(record.message)).toBeLessThanOrEqual(MAX_MESSAGE_BYTES)
    expect(Buffer.byteLength(record.stack ?? '')).toBeLessThanOrEqual(MAX_STACK_BYTES)
    expect(record.stack).toContain('thrown.test')
    expect(record.truncated).toBe(true)
    expect(record.originalLength).toBeGreaterThan(20_000_000)
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
  })

  it('is measured in bytes and not cut inside a character', () => {
    const record = describeThrown(new Error('😀'.repeat(5000)))

    expect(Buffer.byteLength(record.message)).toBeLessThanOrEqual(MAX_MESSAGE_BYTES)
    expect(record.message).toMatch(/^(😀)+ …\[cut\]$/u)
  })

  it.each([MAX_MESSAGE_BYTES - 1, MAX_MESSAGE_BYTES])('keeps a message of %i bytes whole', (length) => {
    expect(describeThrown(new Error('x'.repeat(length))).message).toHaveLength(length)
  })

  it('flags a stack that was cut though its message was not', () => {
    const error = new Error('short')
    error.stack = `Error: short\n${'    at f (file:///a.js:1:1)\n'.repeat(5000)}`

    expect(describeThrown(error)).toMatchObject({ message: 'short', truncated: true })
  })
})

describe('what stands behind an error', () => {
  it('is listed, outermost first', () => {
    const error = new AggregateError([new Error('A'), new TypeError('B')], 'both', {
      cause: new Error('C', { cause: 'D' }),
    })

    expect(describeThrown(error).cause.map(({ message }) => message)).toEqual(['C', 'A', 'B', 'D'])
  })

  it('is listed once, and a cycle marked', () => {
    const error = new Error('A')
    error.cause = new Error('B', { cause: error })

    expect(describeThrown(error).cause.map(({ name }) => name)).toEqual(['Error', 'Cycle'])
  })

  it('is bounded, and what is left out counted', () => {
    const record = describeThrown(new AggregateError(Array.from({ length: 1000 }, (_, i) => new Error(`e${i}`))))

    expect(record.cause).toHaveLength(21)
    expect(record.cause.at(-1)).toMatchObject({ name: 'More', message: '980 more were left out' })
  })
})

it('cuts secrets out of message, stack and causes', () => {
  const error = new Error('refused: password=hunter2', { cause: new Error('Bearer abcdefghijkl') })

  expect(JSON.stringify(describeThrown(error))).not.toMatch(/hunter2|abcdefghijkl/)
})
