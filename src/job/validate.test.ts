import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { validate } from './validate.js'

function schemaOf(check: (value: unknown) => unknown): StandardSchemaV1 {
  return { '~standard': { version: 1, vendor: 'test', validate: check as StandardSchemaV1['~standard']['validate'] } }
}

describe('validating', () => {
  const schema = z.object({ items: z.array(z.object({ id: z.number() })), when: z.coerce.date() })

  it('answers at once with the schema’s output', () => {
    expect(validate(schema, { items: [], when: '2030-01-01' })).toEqual({
      ok: true,
      value: { items: [], when: new Date('2030-01-01') },
    })
  })

  it('names the first place that is wrong, and how many more there are', () => {
    expect(validate(schema, { items: [{ id: 1 }, { id: 'x' }], when: {} })).toEqual({
      ok: false,
      path: 'items[1].id',
      message: expect.stringMatching(/expected number.*\(and 1 more\)$/),
    })
  })

  it('passes everything without a schema', () => {
    expect(validate(null, 5)).toEqual({ ok: true, value: 5 })
  })

  it('waits for an async schema', async () => {
    const asynchronous = z.string().refine(async (text) => text === 'a', 'must be a')

    expect(await validate(asynchronous, 'a')).toEqual({ ok: true, value: 'a' })
    expect(await validate(asynchronous, 'b')).toEqual({ ok: false, path: '', message: 'must be a' })
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('answers for a schema that %s', async (_, check) => {
    expect(await validate(schemaOf(check), 1)).toEqual({ ok: false, path: '', message: 'the schema threw: broken' })
  })
})
