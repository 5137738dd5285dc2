import { type OnePlaceChecker, until, type WaitOptions } from 'spillway/testing'
import { onServer } from './server.js'

const UNFINISHED = ['available', 'scheduled', 'retryable', 'running', 'waiting']

/** Waits until no job waits or runs any more, and gives the jobs by state. */
export function finished(
  checker: OnePlaceChecker,
  options: WaitOptions = {},
): Promise<Readonly<Record<string, number>>> {
  return until(
    async () => {
      const census = await checker.census()
      const left = UNFINISHED.filter((state) => census[state])
      if (left.length === 0) return census
      throw new Error(`still there: ${JSON.stringify(census)}`)
    },
    { within: '60s', every: 200, what: 'the end of all jobs', ...options },
  )
}

/** Makes everything that waits for its time due, again and again, until it is called off. */
export function hurry(url: string): () => Promise<void> {
  let going = true
  const done = (async () => {
    while (going) {
      // A backend that is terminated under it is what some of these tests are about.
      await makeDue(url).catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })()
  return () => {
    going = false
    return done
  }
}

async function makeDue(url: string): Promise<void> {
  await onServer(url, (client) =>
    client.query(`update spillway.deferred_jobs set due_at = now() where state <> 'available' and due_at > now()`),
  )
}
