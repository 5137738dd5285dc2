import { describe, expect, it } from 'vitest'
import { decideTurn, type RingLook } from './ring-turn.js'

const MB = 1024 * 1024

describe('turning a ring', () => {
  it.each([
    ['20,000 rows entered', { entered: 20_000, headBytes: MB }],
    ['it has 8 MB', { headBytes: 8 * MB }],
    ['it is 10 s old', { headAgeMs: 10_000, headBytes: MB }],
    ['no row in it is live any more', { headAgeMs: 1_000, headBytes: MB, headLive: false }],
  ])('goes on to the next empty slot when %s', (_, changes) => {
    const turn = decide({ head: 7, slots: { 0: 'live', 1: 'empty' }, ...changes })

    expect(turn.rotateTo).toBe(1)
  })

  it.each([
    ['fewer rows are set', { rotateRows: 5_000, entered: 5_000, headBytes: MB }],
    ['so are its bytes', { rotateRows: 5_000, headBytes: 2 * MB }],
    ['a younger age is set', { rotateMs: 3_000, headAgeMs: 3_000, headBytes: MB }],
  ])('goes on sooner when %s', (_, changes) => {
    expect(decide({ head: 7, slots: { 0: 'live', 1: 'empty' }, ...changes }).rotateTo).toBe(1)
  })

  it('stays longer when more rows and a higher age are set', () => {
    const more = { rotateRows: 100_000, rotateMs: 60_000, entered: 90_000, headAgeMs: 50_000, headBytes: 30 * MB }

    expect(decide(more).rotateTo).toBeNull()
  })

  it.each([
    ['it is young and not full', { headAgeMs: 9_000, headBytes: MB, entered: 19_000 }],
    ['there is next to nothing in it', { headAgeMs: 60_000, headBytes: 8_192, headLive: false }],
    ['no slot is empty', { headAgeMs: 60_000, headBytes: 9 * MB, slots: all('live') }],
  ])('stays while %s', (_, changes) => {
    expect(decide(changes).rotateTo).toBeNull()
  })

  it('truncates drained slots, never the head, never one with a live row', () => {
    const turn = decide({ head: 2, headLive: false, slots: { 0: 'drained', 1: 'live', 3: 'drained' } })

    expect(turn.reclaim).toEqual([3, 0])
  })

  it('truncates small slots once a second while there are empty ones enough, and large ones at once', () => {
    const rest = { truncatedAgeMs: 500, slots: { 1: 'small', 2: 'drained' } } as const

    expect(decide(rest).reclaim).toEqual([2])
    expect(decide({ ...rest, truncatedAgeMs: 1_000 }).reclaim).toEqual([1, 2])
    expect(decide({ ...rest, slots: { ...all('live'), 1: 'small' } }).reclaim).toEqual([1])
  })

  it('carries stragglers forward from the oldest slot when the ring runs out of empty ones', () => {
    const old = (slot: number) => (slot === 3 || slot === 5 ? 30_000 : 5_000)

    expect(decide({ slots: { ...all('live'), 1: 'empty' } }, old).carry).toBe(3)
    expect(decide({ slots: { ...all('live'), 1: 'empty', 2: 'empty' } }, old).carry).toBeNull()
    expect(decide({ slots: all('live') }, () => 29_999).carry).toBeNull()
  })
})

type Kind = 'empty' | 'live' | 'small' | 'drained'

interface Scene {
  readonly head?: number
  readonly headAgeMs?: number
  readonly headBytes?: number
  readonly headLive?: boolean
  readonly entered?: number
  readonly truncatedAgeMs?: number
  readonly rotateRows?: number
  readonly rotateMs?: number
  readonly slots?: Readonly<Record<number, Kind>>
}

function decide(scene: Scene, leftForMs: (slot: number) => number = () => 0) {
  const { head = 0, headAgeMs = 0, headBytes = 8_192, headLive = true, entered = 0, truncatedAgeMs = 60_000 } = scene
  const bytes = { empty: 0, live: 2 * MB, small: 8_192, drained: 2 * MB }
  const look: RingLook = {
    head,
    headAgeMs,
    entered,
    truncatedAgeMs,
    rotateRows: scene.rotateRows ?? 20_000,
    rotateMs: scene.rotateMs ?? 10_000,
    slots: [0, 1, 2, 3, 4, 5, 6, 7].map((slot) => {
      if (slot === head) return { slot, bytes: headBytes, live: headLive }
      const kind = scene.slots?.[slot] ?? 'empty'
      return { slot, bytes: bytes[kind], live: kind === 'live' }
    }),
  }
  return decideTurn(look, leftForMs, 30_000)
}

function all(kind: Kind): Readonly<Record<number, Kind>> {
  return Object.fromEntries([0, 1, 2, 3, 4, 5, 6, 7].map((slot) => [slot, kind]))
}
