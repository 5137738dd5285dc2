import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds of a clock that all processes of a machine share and that never jumps. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/**
 * Callers that each call and wait for the answer, again and again, for that long.
 *
 * @param step - How many jobs a call stands for; it is given the number of its first.
 */
export async function closedLoop(
  callers: number,
  seconds: number,
  step: number,
  call: (n: number) => Promise<unknown>,
) {
  let called = 0
  let count = 0
  const begin = monotonic()
  const lane = async () => {
    while (monotonic() - begin < seconds * 1000) {
      const n = called
      called += step
      await call(n)
      count += step
    }
  }
  await Promise.all(Array.from({ length: callers }, lane))
  return { count, seconds: (monotonic() - begin) / 1000 }
}

/** One call after the other at a fixed rate, waiting for none of them. Answers stand in the order of the calls. */
export async function openLoop<T>(perSecond: number, count: number, call: (n: number) => Promise<T>): Promise<T[]> {
  const begin = monotonic()
  const calls = Array.from({ length: count }, async (_, n) => {
    await sleep(Math.max(0, begin + (n * 1000) / perSecond - monotonic()))
    return call(n)
  })
  return Promise.all(calls)
}

/** Stores jobs 0 to `count` in batches, two at a time. */
export async function fill(count: number, batch: number, call: (from: number, to: number) => Promise<unknown>) {
  let next = 0
  const lane = async () => {
    while (next < count) {
      const from = next
      next = Math.min(count, from + batch)
      await call(from, next)
    }
  }
  await Promise.all([lane(), lane()])
}
