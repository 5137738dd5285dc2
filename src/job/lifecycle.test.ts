import { describe, expect, it } from 'vitest'
import { SpillwayError } from './errors.js'
import { guard, JOB_EVENTS, LIFECYCLE, next, renderLifecycle, statesAccepting } from './lifecycle.js'
import { JOB_STATES, type JobState } from './states.js'

/** The contract's table (design/semantics.md 3 and rulings 1, 5, 6), written a second time by hand: event, from → to. */
const CONTRACT = `
  enqueue                   -                                                                  available
  enqueue_later             -                                                                  scheduled
  enqueue_parked            -                                                                  quarantined
  import                    -                                                                  archived
  restore                   -                                                                  archived
  promote                   scheduled retryable                                                available
  reschedule                available scheduled retryable                                      scheduled
  edit                      available                                                          available
  edit                      scheduled                                                          scheduled
  edit                      retryable                                                          retryable
  edit_payload              available                                                          available
  edit_payload              scheduled                                                          scheduled
  edit_payload              retryable                                                          retryable
  edit_payload              archived                                                           archived
  edit_payload              failed                                                             failed
  edit_payload              undecodable                                                        undecodable
  quarantine                available scheduled retryable running                              quarantined
  set_aside                 available                                                          available
  no_handler                available                                                          archived
  claim                     available                                                          running
  complete                  running                                                            completed
  fail_retry                running                                                            retryable
  exhaust                   running                                                            archived
  skip                      running                                                            archived
  revoke                    running                                                            gone
  snooze                    running                                                            scheduled
  rate_limit                running                                                            scheduled
  undecodable               running                                                            undecodable
  handback                  running                                                            available
  handback_limit            running                                                            quarantined
  crash                     running                                                            retryable
  convict                   running                                                            quarantined
  crash_bound               running                                                            quarantined
  wait                      running                                                            waiting
  answer                    waiting                                                            available
  callback_fail             waiting                                                            retryable
  callback_exhaust          waiting                                                            archived
  callback_timeout          waiting                                                            retryable
  callback_timeout_exhaust  waiting                                                            archived
  deadline                  available scheduled retryable running waiting                      archived
  cancel                    available scheduled retryable running waiting quarantined undecodable  cancelled
  kill                      available scheduled retryable waiting quarantined undecodable      archived
  move                      failed                                                             archived
  retry                     archived failed                                                    available
  discard                   archived quarantined undecodable                                   discarded
  undo                      discarded available scheduled                                      origin
  release                   quarantined undecodable                                            available
  clone                     completed                                                          completed
  clone                     cancelled                                                          cancelled
  purge                     archived failed completed cancelled discarded quarantined undecodable  gone
  expire                    archived failed completed cancelled discarded quarantined undecodable  gone
`
const ARROWS = CONTRACT.trim()
  .split('\n')
  .flatMap((line) => {
    const [event, ...rest] = line.trim().split(/\s+/)
    const to = rest.pop()
    return rest.map((from) => ({
      event: event as (typeof JOB_EVENTS)[number],
      from: from === '-' ? null : (from as JobState),
      to,
    }))
  })
const listed = (state: JobState | null, event: string) =>
  ARROWS.find((arrow) => arrow.from === state && arrow.event === event)

describe('the lifecycle', () => {
  it.each(ARROWS)('$event takes a job from $from to $to', ({ event, from, to }) => {
    expect(next(from, event)).toBe(to)
  })

  const refused = JOB_STATES.flatMap((state) => JOB_EVENTS.map((event) => ({ state, event }))).filter(
    ({ state, event }) => listed(state, event) === undefined,
  )

  it.each(refused)('$event of a $state job is refused, naming the state found', ({ state, event }) => {
    expect(() => guard({ id: '42', state }, event)).toThrow(
      expect.objectContaining({
        code: 'invalid_state',
        state,
        event,
        message: expect.stringContaining(`it is ${state}`),
      }),
    )
  })

  it.each(JOB_EVENTS.filter((event) => listed(null, event) === undefined))('%s makes no job', (event) => {
    expect(next(null, event)).toBeUndefined()
  })

  it('has no two arrows for one state and event', () => {
    const pairs = LIFECYCLE.flatMap(({ from, event }) => from.map((state) => `${state} ${event}`))

    expect(new Set(pairs).size).toBe(pairs.length)
  })

  it('leads out of every state, and into every state', () => {
    const into = new Set(JOB_EVENTS.flatMap((event) => [null, ...JOB_STATES].map((state) => next(state, event))))

    for (const state of JOB_STATES) {
      expect(
        JOB_EVENTS.some((event) => next(state, event) !== undefined),
        `out of ${state}`,
      ).toBe(true)
      expect(into, `into ${state}`).toContain(state)
    }
  })
})

describe('what a transition does to the counters', () => {
  const rows = (event: string) => LIFECYCLE.filter((row) => row.event === event)

  it.each([
    'fail_retry',
    'exhaust',
    'callback_fail',
    'callback_exhaust',
    'callback_timeout',
    'callback_timeout_exhaust',
  ])('%s charges an attempt', (event) => {
    expect(rows(event)).toEqual([expect.objectContaining({ attempt: '+1', crash: '=' })])
  })

  it.each(['crash', 'convict', 'crash_bound'])('%s charges a crash and no attempt', (event) => {
    expect(rows(event)).toEqual([expect.objectContaining({ attempt: '=', crash: '+1' })])
  })

  it('charges nothing else', () => {
    const charging = LIFECYCLE.filter((row: { attempt: string; crash: string }) =>
      [row.attempt, row.crash].includes('+1'),
    )

    expect(charging).toHaveLength(9)
  })

  it('forgets the crashes of what is released from quarantine, and not of what was undecodable', () => {
    expect(rows('release').map((row) => row.crash)).toEqual(['0', '='])
  })
})

describe('a queue without a dead-letter queue', () => {
  it.each(['exhaust', 'skip', 'deadline'] as const)('%s makes the job failed', (event) => {
    expect(next('running', event, false)).toBe('failed')
  })

  it('still takes what is moved, imported or restored into it', () => {
    expect(next('failed', 'move', false)).toBe('archived')
    expect(next(null, 'import', false)).toBe('archived')
    expect(next(null, 'restore', false)).toBe('archived')
  })
})

describe('a guard', () => {
  it('answers where the job goes', () => {
    expect(guard({ id: '42', state: 'archived' }, 'retry')).toBe('available')
    expect(guard({ id: '42', state: 'waiting' }, 'kill', false)).toBe('failed')
  })

  it('names every state that would do', () => {
    expect(statesAccepting('retry')).toEqual(['failed', 'archived'])
    expect(() => guard({ id: '42', state: 'completed' }, 'retry')).toThrow(SpillwayError)
  })
})

it('prints one line of Markdown for each arrow', () => {
  const lines = renderLifecycle().trim().split('\n')

  expect(lines).toHaveLength(LIFECYCLE.length + 2)
  expect(lines).toContain("| failed | move | archived | = | = | the operator's text, else `manual` |")
  for (const line of lines) expect(line.match(/\|/g)).toHaveLength(7)
})
