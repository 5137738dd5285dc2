import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkAgainst, jsonSchemaOf } from './json-schema.js'

const fits = (schema: unknown, value: unknown) => checkAgainst(schema, value)?.map(({ path }) => path)

describe('checking a value against a JSON Schema', () => {
  it.each<[string, unknown, unknown, unknown]>([
    ['type', { type: 'string' }, 'a', 1],
    ['types', { type: ['string', 'null'] }, null, 1],
    ['integer', { type: 'integer' }, 12n, 1.5],
    ['number', { type: 'number' }, 1.5, '1'],
    ['object', { type: 'object' }, {}, []],
    ['enum', { enum: ['a', { b: 1 }] }, { b: 1 }, 'c'],
    ['const', { const: 7 }, 7, 8],
    ['anyOf', { anyOf: [{ type: 'string' }, { type: 'number' }] }, 1, true],
    ['oneOf', { oneOf: [{ minimum: 5 }, { maximum: 3 }] }, 1, 4],
    ['oneOf, more than one', { oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 1, 3],
    ['allOf', { allOf: [{ minimum: 1 }, { maximum: 3 }] }, 2, 4],
    ['not', { not: { type: 'string' } }, 1, 'a'],
    ['minLength', { minLength: 2 }, '😀😀', '😀'],
    ['pattern', { pattern: '^a' }, 'ab', 'b'],
    ['bounds', { exclusiveMinimum: 1, exclusiveMaximum: 3 }, 2, 3],
    ['multipleOf', { multipleOf: 0.1 }, 0.3, 0.35],
    [
      'uniqueItems',
      { uniqueItems: true },
      [{ a: 1, b: 2 }, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
    ['a tuple', { prefixItems: [{ type: 'string' }], items: false }, ['a'], ['a', 1]],
    ['false', false, undefined, 1],
  ])('%s', (name, schema, good, bad) => {
    if (name !== 'false') expect(checkAgainst(schema, good)).toEqual([])
    expect(checkAgainst(schema, bad)).toHaveLength(1)
  })

  it('names each place, as deep as it lies', () => {
    const schema = {
      type: 'object',
      required: ['items', 'missing'],
      properties: { items: { type: 'array', items: { $ref: '#/$defs/item' } } },
      additionalProperties: false,
      $defs: { item: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } },
    }

    expect(fits(schema, { items: [{ id: 'a' }, { id: 1 }, {}], 'un known': 1 })).toEqual([
      'missing',
      'items[1].id',
      'items[2].id',
      '["un known"]',
    ])
  })

  it('knows nothing where the schema says what it does not understand', () => {
    expect(checkAgainst({ unevaluatedProperties: false }, {})).toBeUndefined()
    expect(checkAgainst({ $ref: 'https://example.com/schema' }, {})).toBeUndefined()
    expect(checkAgainst({ $ref: '#/$defs/none' }, {})).toBeUndefined()
    expect(checkAgainst({ pattern: '(' }, 'a')).toBeUndefined()
    expect(checkAgainst({ $ref: '#' }, {})).toBeUndefined()
    expect(checkAgainst('no schema', {})).toBeUndefined()
  })

  it('stops counting at 20', () => {
    const schema = { items: { type: 'string' } }

    expect(
      checkAgainst(
        schema,
        Array.from({ length: 100 }, (_, n) => n),
      ),
    ).toHaveLength(20)
  })
})

describe('the JSON Schema of a schema', () => {
  it('is what it takes in, not what it makes of it', () => {
    const schema = z.object({ cents: z.string().transform(Number), note: z.string().default('') })

    const text = jsonSchemaOf(schema)

    expect(checkAgainst(JSON.parse(text ?? ''), { cents: '12' })).toEqual([])
    expect(fits(JSON.parse(text ?? ''), { cents: 12 })).toEqual(['cents'])
  })

  it('is none where the library has none, where it cannot be said, and where it is larger than is kept', () => {
    const standard = { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) } as const
    const large = z.enum(Array.from({ length: 10_000 }, (_, n) => `value number ${n}`) as [string, ...string[]])

    expect(jsonSchemaOf(null)).toBeNull()
    expect(jsonSchemaOf({ '~standard': standard })).toBeNull()
    expect(jsonSchemaOf(z.object({ when: z.date() }))).toBeNull()
    expect(jsonSchemaOf(large)).toBeNull()
  })

  it('is also read from a method of the schema', () => {
    const schema = {
      '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) },
      toJSONSchema: ({ io }: { io: string }) => ({ title: io }),
    } as const

    expect(jsonSchemaOf(schema)).toBe('{"title":"input"}')
  })
})
