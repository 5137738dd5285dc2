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

  /** How many statements it costs that so many listen, while the store is looked at a few times. */
  async function costOfListening(consoles: number): Promise<number> {
    const { ask, seen } = await served()
    const closed = new AbortController()
    const listening = Array.from({ length: consoles }, () => ask('/events', { signal: closed.signal }))
    const streams = await Promise.all(listening)
    await until(() => seen().filter((text) => /from "spillway"\."operations"/.test(text)).length >= 4)
    const cost = seen().length
    closed.abort()
    for (const { body } of streams) await body?.cancel()
    return cost
  }

  it('cost the database no more than two when they look', async () => {
    await given.jobs(20, { state: 'archived', queue: 'q' })

    const [two, ten] = [await costOfLooking(2), await costOfLooking(10)]

    expect(two).toBeGreaterThanOrEqual(LOOKS.length - 2)
    expect(ten).toBeLessThanOrEqual(two)
  })

  it('cost the database no more than two when they listen', async () => {
    await given.jobs(20, { state: 'archived', queue: 'q' })

    const [two, ten] = [await costOfListening(2), await costOfListening(10)]

    // It is looked at once a second, so that a moment more or less may hold another look, and never five times as many.
    expect(two).toBeGreaterThanOrEqual(8)
    expect(ten).toBeLessThanOrEqual(two + 8)
  })
})
