import { type Job, type JobState, Spillway } from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'
import { LIFECYCLE, next, type Transition } from '../../src/job/lifecycle.js'
import { apiOn } from '../http/api.js'
import { expectCounters } from '../support/lifecycle/counters.js'
import { type Deed, FACES } from '../support/lifecycle/faces.js'
import { worldOf } from '../support/lifecycle/world.js'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

/** What workers, time, handlers and callbacks bring about, and nobody by hand. */
const NOT_BY_HAND = [
  ...[
    'quarantine',
    'set_aside',
    'no_handler',
    'claim',
    'complete',
    'fail_retry',
    'exhaust',
    'skip',
    'revoke',
    'snooze',
  ],
  ...['rate_limit', 'undecodable', 'handback', 'handback_limit', 'crash', 'convict', 'crash_bound', 'wait', 'answer'],
  ...['callback_fail', 'callback_exhaust', 'callback_timeout', 'callback_timeout_exhaust', 'deadline', 'expire'],
]

const nameOf = ({ from, event }: Transition) => `${from[0] ?? 'new'} ${event}`
const rows: readonly Transition[] = LIFECYCLE
const byHand = rows.filter(({ event }) => !NOT_BY_HAND.includes(event))
const arrows = byHand.flatMap((row) => (row.from.length === 0 ? [null] : row.from).map((from) => ({ row, from })))

it('every row of the table that an operator can bring about has a command and a request', () => {
  expect(byHand.map(nameOf).sort()).toEqual(Object.keys(FACES).sort())
})

describeStore('an operator', ({ store, given, db, url }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())
  const api = apiOn(store)

  const byCommand = async ({ words, body }: Deed): Promise<string> => {
    const { code, stdout, stderr } = await commandLine(url, typeof body === 'string' ? { input: body } : {})(
      ...words,
      '--json',
    )
    expect(code, `${words.join(' ')}: ${stderr}`).toBe(0)
    return (JSON.parse(stdout) as { id: string }).id
  }
  const byRequest = async ({ line, body }: Deed): Promise<string> => {
    const type = typeof body === 'string' ? { headers: { 'content-type': 'application/x-ndjson' } } : {}
    const answer = await api(line, { body, ...type })
    expect(answer.status, answer.text).toBeLessThan(300)
    // An operation is gone on with by whoever does the duties; here that is nobody else.
    if (answer.status === 202) await api.client.operations.run(answer.body.id)
    return answer.body.id
  }

  describe.each([
    ['on the command line', byCommand],
    ['over HTTP', byRequest],
  ])('%s', (_, does) => {
    it.each(arrows.map((arrow) => [arrow.row.event, arrow.from ?? 'nothing', arrow] as const))(
      'brings about %s from %s',
      async (_, __, { row, from }) => {
        const world = worldOf(spillway, given, db, 'default')
        const step = await (FACES[nameOf(row)] as (typeof FACES)[string])(world, from)

        const named = await does(step.deed)

        const id = step.id ?? named
        const target = next(from, row.event as Parameters<typeof next>[1])
        const after = await world.reaches(
          id,
          target === 'origin' ? (step.before as Job).state : (target as JobState | 'gone'),
        )
        expectCounters(row, step.before, after)
      },
    )
  })
})
