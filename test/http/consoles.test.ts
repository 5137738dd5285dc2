import { afterAll, expect, it, onTestFinished } from 'vitest'
import { Client } from '../../src/client/client.js'
import { createHandler } from '../../src/http/index.js'
import { postgresStore } from '../../src/store/postgres/store.js'
import { until } from '../support/patience.js'
import { type DatabaseProxy, startProxy } from '../support/proxy.js'
import { describeStore } from '../support/store.js'

/** What a console that shows everything asks for, again and again. */
const LOOKS = [
  ...['/meta', '/dlq/depth', '/dlq/groups', '/dlq/history', '/dlq?limit=50', '/dlq?queue=q', '/dlq/unreviewed'],
  ...['/jobs/counts', '/jobs?state=archived', '/queues', '/workers', '/operations', '/duties', '/quarantine'],
]
const ROUNDS = 5

describeStore('many open consoles', ({ given, url }) => {
  const proxies: DatabaseProxy[] = []
  afterAll(async () => {
    for (const proxy of proxies) await proxy.close()
  })

  /** A server with a database of its own connections, whose statements are seen. */
  async function served() {
    const proxy = await startProxy(url)
    proxies.push(proxy)
    const store = postgresStore({ url: proxy.url, listen: false })
    onTestFinished(() => store.close())
    const handler = createHandler({ spillway: new Client({ store }), access: 'open', freshMs: 60_000 })
    const ask = (path: string, init: RequestInit = {}) => handler(new Request(`http://127.0.0.1/api/v1${path}`, init))
    return { ask, seen: () => proxy.seen }
  }

  /** How many statements it costs that so many look, all at the same time, again and again. */
  async function costOfLooking(consoles: number): Promise<number> {
    const { ask, seen } = await served()
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await Promise.all(Array.from({ length: consoles }, () => LOOKS.map((path) => ask(path))).flat())
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    }
    // Which places are hidden is asked anew every two seconds, however many look.
    return seen().filter((text) => !text.includes('masked_paths')).length
  }

  /** So many listen, until it is closed. */
  async function listening(consoles: number) {
    const { ask, seen } = await served()
    const gone = new AbortController()
    const asked = Array.from({ length: consoles }, () => ask('/events', { signal: gone.signal }))
    const streams = await Promise.all(asked)
    onTestFinished(async () => {
      gone.abort()
      for (const { body } of streams) await body?.cancel()
    })
    return seen
  }

  it('cost the database no more than two when they look', async () => {
    await given.jobs(20, { state: 'archived', queue: 'q' })

    const [two, ten] = [await costOfLooking(2), await costOfLooking(10)]

    expect(two).toBeGreaterThanOrEqual(LOOKS.length - 2)
    expect(ten).toBeLessThanOrEqual(two)
  })

  it('cost the database no more than two when they listen', async () => {
    await given.jobs(20, { state: 'archived', queue: 'q' })

    const [two, ten] = [await listening(2), await listening(10)]
    // Side by side, so that both have the same time, however slow the machine is.
    await until(() => two().filter((text) => /from "spillway"\."operations"/.test(text)).length >= 4)

    // A moment more or less may hold another look, and never five times as many.
    expect(two().length).toBeGreaterThanOrEqual(8)
    expect(ten().length).toBeLessThanOrEqual(two().length + 8)
  })
})
