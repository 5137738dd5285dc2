import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkText, decodePayload, encodePayload, MAX_PAYLOAD_BYTES } from './payload.js'

class Money {
  constructor(readonly cents: number) {}
}
const circular: Record<string, unknown> = { a: [{}] }
;(circular.a as unknown[])[0] = circular
const shared = { x: 1 }

describe('encoding a payload', () => {
  it.each([
    [{ a: 1, b: 'x', c: [true, null], d: { e: -0.5 } }],
    [{ when: new Date(0), none: undefined, list: [undefined, new Date(1)] }],
    [{ f: () => 1, s: Symbol(), list: [() => 1] }],
    [new Money(5)],
    [{ toJSON: () => ({ n: 1 }) }],
    [Object.assign(Object.create(null), { a: 1 })],
    [{ a: shared, b: shared }],
    [{ boxed: [Object(1), Object('x'), Object(true)], m: new Money(1), nested: { f: () => 1, g: 'kept' } }],
    [{ emoji: '👩‍👩‍👧 \u{10ffff}', spelled: '\\u0000 \\ud800', quote: '"\n' }],
    ['text'],
    [0],
    [null],
    [[]],
    [{ '': 1, __proto__: null, 'a b': 2 }],
  ])('writes what JSON.stringify writes (%#)', (value) => {
    const text = JSON.stringify(value)

    expect(encodePayload(value)).toEqual({ text, bytes: Buffer.byteLength(text) })
  })

  it.each([
    [{ n: 1n }, 'n'],
    [{ items: [{ id: 1 }, { id: 2n }] }, 'items[1].id'],
    [{ 'first name': { x: Number.NaN } }, '["first name"].x'],
    [[Number.POSITIVE_INFINITY], '[0]'],
    [{ when: new Date(Number.NaN) }, 'when'],
    [{ m: new Map() }, 'm'],
    [{ s: new Set() }, 's'],
    [{ b: Buffer.from('x') }, 'b'],
    [{ b: new Uint8Array(2) }, 'b'],
    [{ b: new ArrayBuffer(2) }, 'b'],
    [{ r: /x/ }, 'r'],
    [{ e: new Error('x') }, 'e'],
    [{ p: Promise.resolve() }, 'p'],
    [{ t: 'a\u0000b' }, 't'],
    [{ t: ['\ud800'] }, 't[0]'],
    [{ t: '\udc00\ud800' }, 't'],
    [{ 'k\u0000': 1 }, '["k\\u0000"]'],
    [circular, 'a[0]'],
    [{ a: { toJSON: () => 1n } }, 'a'],
    [{ a: { toJSON: () => BigInt('x') } }, 'a'],
    [undefined, ''],
    [() => 1, ''],
    [Symbol(), ''],
    [Number.NaN, ''],
    [1n, ''],
    [new Map(), ''],
    [nested(2000), expect.stringMatching(/^a(\.a){900,}$/)],
  ])('refuses with the path (%#)', (value, path) => {
    expect(() => encodePayload(value)).toThrow(expect.objectContaining({ code: 'payload_refused', path }))
  })

  it('says what would be accepted', () => {
    expect(() => encodePayload({ n: 1n })).toThrow(
      'cannot store the payload: `n` is a BigInt; send a text, or define the kind with bigint: true',
    )
  })

  it('takes nesting that is deep but not too deep', () => {
    expect(encodePayload(nested(900)).text).toBe(JSON.stringify(nested(900)))
  })

  it('refuses what is too large by bytes, exactly, naming the limit', () => {
    expect(encodePayload('é'.repeat((MAX_PAYLOAD_BYTES - 2) / 2)).bytes).toBe(MAX_PAYLOAD_BYTES)
    expect(() => encodePayload(`${'é'.repeat((MAX_PAYLOAD_BYTES - 2) / 2)}x`)).toThrow(
      expect.objectContaining({ code: 'payload_too_large', maxBytes: MAX_PAYLOAD_BYTES }),
    )
    expect(() => encodePayload({ m: new Money(1), a: 'x'.repeat(99) }, { maxBytes: 50 })).toThrow(/limit is 50/)
  })

  it('writes BigInts as integers where the kind says so', () => {
    expect(encodePayload({ n: 2n ** 64n, m: [-1n] }, { bigint: true }).text).toBe('{"n":18446744073709551616,"m":[-1]}')
  })
})

describe('decoding a payload', () => {
  it.each([
    '{"a":[1,-2.5,1e5,true,null,"x"]}',
    '{"id":9007199254740991}',
    '{"big":9007199254740992}',
    '{"pi":3.141592653589793238462}',
    '{"t":"9007199254740993 \\" 9007199254740993"}',
    '-0',
    '{"asJavaScriptWritesIt":12345678901234567000}',
    '[]',
    '{"e":1e100}',
  ])('reads %s as JSON.parse does', (text) => {
    expect(decodePayload(text)).toEqual({ ok: true, value: JSON.parse(text) })
  })

  it.each([
    ['{"id":9007199254740993}', 'id'],
    ['{"a":"9007199254740993","b":[0,{"c d":-9007199254740995}]}', 'b[1]["c d"]'],
    ['12345678901234567890', ''],
    [`{"x":1e400}`, 'x'],
    [`{"x":${'9'.repeat(500)}}`, 'x'],
    ['{ "\\"a" : { } , "b" : [ ] , "c" : 12345678901234567891 }', 'c'],
  ])('does not round %s', (text, path) => {
    expect(decodePayload(text)).toEqual({ ok: false, path, message: expect.stringContaining('round') })
  })

  it('gives unsafe integers as BigInt where the kind says so, also those that would not be rounded', () => {
    expect(decodePayload('{"a":9007199254740992,"b":5,"__proto__":[12345678901234567890]}', { bigint: true })).toEqual({
      ok: true,
      value: JSON.parse('{"a":0,"b":5,"__proto__":[0]}', (key, value: unknown) =>
        key === 'a' ? 9007199254740992n : key === '0' ? 12345678901234567890n : value,
      ),
    })
  })

  it('brings back what was encoded', () => {
    const value = { n: 2n ** 70n, list: ['a', { b: 1.5 }, null] }

    expect(decodePayload(encodePayload(value, { bigint: true }).text, { bigint: true })).toEqual({ ok: true, value })
  })

  it('brings back any JSON as it was, by the short way and by the long one', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (json) => {
        fc.pre(!/\\u0000|\\ud[89a-f]/.test(JSON.stringify(json))) // refused, and tested above
        const value = JSON.parse(JSON.stringify(json)) as unknown // -0 is 0 in JSON
        class Wrapped {
          constructor(readonly value: unknown) {}
        }

        expect(decodePayload(encodePayload(value).text)).toEqual({ ok: true, value })
        expect(encodePayload(new Wrapped(value)).text).toBe(encodePayload({ value }).text)
      }),
    )
  })

  it.each(['', '{', 'undefined', '{"a":01}'])('answers %j, which is no JSON', (text) => {
    expect(decodePayload(text)).toEqual({ ok: false, path: '', message: expect.stringContaining('no JSON') })
  })

  it('reads a large text with long numbers and long strings in linear time', () => {
    const text = JSON.stringify({ ids: Array(40_000).fill('1234567890123456'), text: '\n'.repeat(400_000) })
    const started = process.cpuUsage()

    expect(decodePayload(text)).toMatchObject({ ok: true })
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000)
  })
})

describe('checking a name', () => {
  it.each(['billing', 'é', 'x'.repeat(255), 'a b'])('accepts %s', (text) => {
    expect(checkText('queue', text)).toBe(text)
  })

  it.each(['', 'x'.repeat(256), 'a\u0000', '\ud800', 5, null, undefined, {}])('refuses %j', (value) => {
    expect(() => checkText('queue', value)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  })
})

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = { a: value }
  return value
}
