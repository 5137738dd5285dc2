import { expect, it } from 'vitest'
import { z } from 'zod'
import { decodeJob } from './decode.js'
import { defineJob } from './definition.js'

const kind = defineJob({
  kind: 'test',
  version: 3,
  upcast: { 1: (v: { n: number }) => ({ m: v.n }), 2: (v: { m: number }) => ({ count: v.m }) },
  schema: z.object({ count: z.number() }),
})
const stored = (payload: string, version = 3) => ({ version, payload })

it('brings a payload up from its version and checks what comes out', () => {
  expect(decodeJob(stored('{"n":1}', 1), kind)).toEqual({ ok: true, value: { count: 1 } })
  expect(decodeJob(stored('{"m":1}', 2), kind)).toEqual({ ok: true, value: { count: 1 } })
  expect(decodeJob(stored('{"count":1}'), kind)).toEqual({ ok: true, value: { count: 1 } })
})

it('says that the upcast was wrong where its outcome does not fit', () => {
  expect(decodeJob(stored('{"n":"one"}', 1), kind)).toMatchObject({
    ok: false,
    path: 'count',
    message: expect.stringMatching(/^after the upcast from version 1 to 3: /),
  })
  expect(decodeJob(stored('{"count":"one"}'), kind)).toMatchObject({ message: expect.not.stringContaining('upcast') })
})

it('names an integer that would be rounded before any upcast sees it', () => {
  expect(decodeJob(stored('{"n":9007199254740993}', 1), kind)).toMatchObject({ ok: false, path: 'n' })
})

it('waits for a schema that waits', async () => {
  const slow = defineJob({
    kind: 'test',
    version: 2,
    upcast: { 1: (v: never) => v },
    schema: z.string().refine(async () => false),
  })

  const decoded = decodeJob(stored('"a"', 1), slow)

  expect(decoded).toBeInstanceOf(Promise)
  await expect(decoded).resolves.toMatchObject({ ok: false, message: expect.stringContaining('after the upcast') })
})
