import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { defineJob, type HandlerContext, type JobHandler } from './definition.js'

describe('a definition', () => {
  it('has the documented defaults', () => {
    expect(defineJob({ kind: 'mail' })).toMatchObject({
      kind: 'mail',
      schema: null,
      version: 1,
      upcast: {},
      queue: 'default',
      maxAttempts: 20,
      timeoutMs: null,
      backoff: null,
      priority: 50,
      tags: [],
      retention: null,
      bigint: false,
      onDeathTx: null,
    })
  })

  it('takes durations in words, and each tag once', () => {
    const definition = defineJob({
      kind: 'mail',
      timeout: '30s',
      retention: { completed: '1h', dlq: null },
      tags: ['a', 'b', 'a'],
    })

    expect(definition).toMatchObject({
      timeoutMs: 30_000,
      retention: { completed: 3_600_000, dlq: null },
      tags: ['a', 'b'],
    })
  })

  it.each([
    { kind: '' },
    { kind: 'a\u0000' },
    { kind: 'a', queue: '' },
    { kind: 'a', maxAttempts: 0 },
    { kind: 'a', maxAttempts: 1.5 },
    { kind: 'a', maxAttempts: Number.POSITIVE_INFINITY },
    { kind: 'a', priority: 101 },
    { kind: 'a', priority: -1 },
    { kind: 'a', version: 0 },
    { kind: 'a', timeout: 0 },
    { kind: 'a', timeout: '0ms' },
    { kind: 'a', tags: [''] },
    { kind: 'a', tags: 'ab' as never },
    { kind: 'a', retention: { dql: 5 } as never },
    { kind: 'a', upcast: { 1: () => 0 } },
    { kind: 'a', version: 2, upcast: { 2: () => 0 } },
    { kind: 'a', version: 3, upcast: { 1: () => 0 } },
    { kind: 'a', version: 3, upcast: { 0: () => 0 } },
  ])('%j is refused', (options) => {
    expect(() => defineJob(options)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
  })

  it('becomes a handler with the code that runs it', () => {
    const definition = defineJob<{ to: string }>({ kind: 'mail' })
    const run = () => 'sent'

    expect(definition.handle(run)).toMatchObject({ definition: { kind: 'mail' }, run })
  })
})

describe('the types', () => {
  const charge = defineJob({
    kind: 'charge',
    schema: z.object({ cents: z.number(), at: z.string().transform((text) => new Date(text)) }),
    version: 2,
    upcast: { 1: (old: { amount: number }) => ({ cents: old.amount, at: '2030-01-01' }) },
  })

  it('of a payload come from the schema: what goes in, and what the handler gets', () => {
    expectTypeOf<NonNullable<typeof charge.types>>().toEqualTypeOf<{
      readonly input: { cents: number; at: string }
      readonly output: { cents: number; at: Date }
    }>()
    charge.handle((payload, context) => {
      expectTypeOf(payload).toEqualTypeOf<{ cents: number; at: Date }>()
      expectTypeOf(context).toEqualTypeOf<HandlerContext>()
    })
  })

  it('of a payload without a schema are as said', () => {
    defineJob<{ to: string }>({ kind: 'mail' }).handle((payload) => {
      expectTypeOf(payload).toEqualTypeOf<{ to: string }>()
    })
    defineJob({ kind: 'mail' }).handle((payload) => {
      expectTypeOf(payload).toEqualTypeOf<unknown>()
    })
  })

  it('of different handlers fit one list', () => {
    const handlers: JobHandler[] = [
      charge.handle(() => {}),
      defineJob<string>({ kind: 'a' }).handle(async (text) => text.length),
    ]

    expect(handlers).toHaveLength(2)
  })
})
