import { expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { listen } from '../../src/http/index.js'
import { postgresStore } from '../../src/store/postgres/store.js'
import { until } from '../support/patience.js'
import { startProxy } from '../support/proxy.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'

const DEATHS = 5

describeConsole('consoles that stay open', ({ open, after, given, client, url }) => {
  /** How many statements a server of its own sends while so many pages look on, each at a number of deaths. */
  const statementsWith = async (pages: number): Promise<number> => {
    const proxy = await startProxy(url)
    after(() => proxy.close())
    const store = postgresStore({ url: proxy.url })
    after(() => store.close())
    const server = await listen({
      ...{ spillway: new Client({ store, actor: 'tests' }), access: 'open', port: 0, stopAfterMs: 100 },
    })
    after(() => server.stop())
    const all = await Promise.all(Array.from({ length: pages }, () => open(`${server.url}/dlq?queue=email`)))
    for (const page of all) {
      await page.getByText(/on page 1/).waitFor()
      await page.getByRole('status', { name: 'Updates: Live' }).waitFor()
    }
    // From the next look at the store on, which comes every second, however many listen.
    let seen = proxy.seen.length
    await until(() => proxy.seen.length > seen)

    const before = await client.dlq.depth()
    seen = proxy.seen.length
    for (let n = 0; n < DEATHS; n++) {
      const { id } = await client.enqueue('send_receipt', {}, { queue: 'email' })
      await client.jobs.kill(id)
      for (const page of all) await page.getByText(`${before + n + 1} in 2 queues`).waitFor()
    }
    return proxy.seen.length - seen
  }

  it('cost the database no more when there are ten of them than when there are two', { timeout: 180_000 }, async () => {
    await incident(given, client)

    const two = await statementsWith(2)
    const ten = await statementsWith(10)

    // The look every second goes on for as long as the pages take to draw, which is longer with ten on one machine.
    expect(ten, `${two} statements with two open`).toBeLessThanOrEqual(two * 2)
    expect(two).toBeGreaterThan(DEATHS)
  })
})
