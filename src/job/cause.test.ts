import { describe, expect, it } from 'vitest'
import { type CauseMemo, causeOf, causeOfDeath, normaliseMessage, ownFrames } from './cause.js'
import type { HistoryEntry } from './history.js'

const stack = `Error: x
    at Mailer.send (file:///app/src/mail.js:10:5)
    at connect (file:///app/node_modules/pg/lib/client.js:3:1)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)
    at async Promise.all (index 0)
    at async run (C:\\app\\jobs\\run.ts:7:3)
    at new Job (file:///app/src/job.js?v=3:1:1)
    at file:///app/src/last.js:1:1`
const input = { kind: 'mail', errorClass: 'Error', message: 'no', stack, reason: 'attempts_exhausted' }

describe('normalising a message', () => {
  it.each([
    ['user 42 of 1.5 not found', 'user <n> of <n> not found'],
    ['id 3f2504e0-4f89-11d3-9a0c-0305e82c3301 gone', 'id <id> gone'],
    ['hash deadbeef12 and 0xFF', 'hash <hex> and <hex>'],
    ['key "a b" and \'c\' and `d`', 'key <text> and <text> and <text>'],
    ["can't and don't", "can't and don't"],
    ['mail ada@example.org bounced', 'mail <email> bounced'],
    ['GET https://api.example.org/v1/x?id=3 failed', 'GET <url> failed'],
    ['ENOENT: /var/tmp/file-9.txt', 'ENOENT: <path>'],
    ['at 2030-01-01T10:00:00.123Z and 2031-02-03', 'at <date> and <date>'],
    ['connect ECONNREFUSED 10.0.0.7:5432', 'connect ECONNREFUSED <n>.<n>:<n>'],
    ['charge ch_3MmlLrLkdIwHu7ix0snN0B15 failed', 'charge <id> failed'],
    ['a\n  b', 'a b'],
    ['ValidationException: and/or', 'ValidationException: and/or'],
  ])('%s', (message, expected) => {
    expect(normaliseMessage(message)).toBe(expected)
  })

  it('is bounded', () => {
    expect(normaliseMessage('word '.repeat(1_000_000)).length).toBeLessThanOrEqual(500)
  })

  it.each(['"', "'", 'a@', 'a.', '/a', '0', 'aa', 'a1', '-', '0x', 'a://', '3f2504e0-', '2030-01-'])(
    'takes little time over a text of %s',
    (part) => {
      const message = part.repeat(2000)
      const started = process.cpuUsage()

      for (let i = 0; i < 20; i++) normaliseMessage(message)

      expect(process.cpuUsage(started).user).toBeLessThan(1_000_000)
    },
  )
})

describe('own frames', () => {
  it('are the innermost three of the user’s code, without line numbers', () => {
    expect(ownFrames(stack)).toEqual(['mail.js:Mailer.send', 'run.ts:run', 'job.js:Job'])
    expect(ownFrames(stack, 9)).toContain('last.js:')
  })

  it.each([null, '', 'no frames here', 'Error\n    at node:internal/x:1:1'])('are none in %j', (text) => {
    expect(ownFrames(text)).toEqual([])
  })
})

describe('a cause', () => {
  it('is the same where only values and lines differ', () => {
    const one = causeOf({ ...input, message: 'user 1 gone' })
    const other = causeOf({ ...input, message: 'user 2 gone', stack: stack.replaceAll(':10:5', ':99:1') })

    expect(one).toEqual(other)
    expect(one).toMatchObject({ cause: expect.stringMatching(/^[0-9a-f]{16}$/), title: 'Error: user <n> gone' })
  })

  it.each([
    ['kind', { kind: 'other' }],
    ['class', { errorClass: 'TypeError' }],
    ['message', { message: 'yes' }],
    ['place', { stack: stack.replace('Mailer.send', 'Mailer.open') }],
  ])('differs by %s', (_, difference) => {
    expect(causeOf({ ...input, ...difference }).cause).not.toBe(causeOf(input).cause)
  })

  it('is the reason where nothing was thrown, and the operator’s words where he gave it', () => {
    const nothing = { ...input, errorClass: null, message: null, stack: null }

    expect(causeOf({ ...nothing, reason: 'no_handler' })).toMatchObject({
      errorClass: 'no_handler',
      title: 'no_handler',
    })
    expect(causeOf({ ...nothing, reason: 'bad deploy 17' }).title).toBe('operator: bad deploy <n>')
  })

  it('shows no secret and no more than 300 characters', () => {
    expect(causeOf({ ...input, message: `token=hunter2 ${'word '.repeat(500)}` }).title).toMatch(
      /^(?!.*hunter2).{1,300}$/,
    )
  })

  it('is remembered, and forgotten before the memory grows', () => {
    const memo: CauseMemo = new Map()

    expect(causeOf(input, memo)).toBe(causeOf(input, memo))
    for (let i = 0; i < 2000; i++) causeOf({ ...input, message: `m${i}` }, memo)
    expect(memo.size).toBeLessThanOrEqual(500)
  })
})

describe('the cause of a death', () => {
  const base = { at: new Date(0), startedAt: null, generation: 0, attempt: 1, leaseId: null, worker: null }

  it('comes from the failure that was recorded', () => {
    const entry: HistoryEntry = {
      ...base,
      type: 'error',
      name: 'E',
      message: 'm 1',
      stack,
      code: null,
      cause: [],
      truncated: false,
    }

    expect(causeOfDeath('mail', 'attempts_exhausted', entry)).toMatchObject({
      errorClass: 'E',
      errorMessage: 'm 1',
      title: 'E: m <n>',
    })
  })

  it('of a skip is its code', () => {
    const death = causeOfDeath('mail', 'skipped', { ...base, type: 'skipped', code: 'no_such_user' })

    expect(death).toMatchObject({ errorClass: 'skip', errorMessage: 'no_such_user', title: 'skip: no_such_user' })
  })

  it('by an operator has no error', () => {
    const entry: HistoryEntry = { ...base, type: 'killed', by: 'ada', why: null, reason: 'manual' }

    expect(causeOfDeath('mail', 'manual', entry)).toMatchObject({
      errorClass: null,
      errorMessage: null,
      title: 'operator: manual',
    })
  })
})
