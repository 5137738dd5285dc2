import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineJob, revoke, Spillway, skip, snooze, type Worker } from 'spillway'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { METRIC_NAMES, METRICS } from '../../src/metrics/definitions.js'
import { MetricsServer } from '../../src/metrics/server.js'
import { until } from '../support/patience.js'
import { describeStore } from '../support/store.js'

const job = defineJob<{ how: string }>({ kind: 'act', queue: 'billing', maxAttempts: 1 })
const handled = job.handle((payload) => {
  if (payload.how === 'fail') throw new Error('no')
  if (payload.how === 'skip') return skip('no_such_user')
  if (payload.how === 'revoke') return revoke()
  if (payload.how === 'snooze') return snooze('1h')
  return 'done'
})

describeStore('metrics of workers', ({ store, url }) => {
  const spillway = new Spillway({ url })
  afterAll(() => spillway.close())

  const working = async (options: { metrics?: { port: number; host?: string } } = {}): Promise<Worker> => {
    const worker = spillway.worker({ queues: { billing: { concurrency: 7 } }, jobs: [handled], ...options })
    onTestFinished(() => worker.stop())
    await worker.start()
    return worker
  }

  it('count claims, and how each attempt ended', async () => {
    const metrics = await spillway.metrics({ everyMs: 1 })
    for (const how of ['work', 'work', 'fail', 'skip', 'revoke', 'snooze']) await spillway.enqueue(job, { how })

    const worker = await working()
    await worker.idle()

    const found = await metrics.samples()
    const settles = Object.fromEntries(
      found.get('spillway_settles_total')?.map(({ labels, value }) => [labels['outcome'], value]) ?? [],
    )
    expect(settles).toEqual({ completed: 2, died: 2, revoked: 1, snoozed: 1 })
    expect(found.get('spillway_claims_total')).toEqual([{ labels: { queue: 'billing' }, value: 6 }])
    expect(found.get('spillway_slots')).toEqual([{ labels: { queue: 'billing' }, value: 7 }])
    expect(found.get('spillway_leases')).toEqual([{ labels: { queue: 'billing' }, value: 0 }])
    expect(await metrics.text()).toMatch(/^spillway_job_duration_seconds_count\{queue="billing"\} 2$/m)
  })

  it('tell whether what was retried from the dead-letter queue succeeds', async () => {
    const metrics = await spillway.metrics()
    const before = (await metrics.samples()).get('spillway_redrives_ended_total') ?? []
    const { id: healed } = await spillway.enqueue(job, { how: 'fail' })
    const { id: broken } = await spillway.enqueue(job, { how: 'fail' })
    const worker = await working()
    await worker.idle()

    await spillway.dlq.retry(healed, { payload: { how: 'work' } })
    await spillway.dlq.retry(broken)
    await until(async () => (await spillway.jobs.get(healed))?.state === 'completed')
    await until(async () => (await spillway.dlq.get(broken))?.generation === 1)
    await worker.idle()

    expect(before).toEqual([])
    expect((await metrics.samples()).get('spillway_redrives_ended_total')).toEqual(
      expect.arrayContaining([
        { labels: { queue: 'billing', outcome: 'completed' }, value: 1 },
        { labels: { queue: 'billing', outcome: 'died' }, value: 1 },
      ]),
    )
  })

  it('are served with the probes on loopback, and by nothing but GET', async () => {
    await working({ metrics: { port: 0 } })
    const server = serverOf(spillway)
    await server.start()
    onTestFinished(() => server.stop())
    const at = (path: string, method = 'GET') => fetch(`${server.url}${path}`, { method })

    const metrics = await at('/metrics')
    const healthy = await at('/healthz')
    const ready = await at('/readyz')

    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(await metrics.text()).toMatch(/^spillway_store_up 1$/m)
    expect([healthy.status, ready.status]).toEqual([200, 200])
    expect(await ready.json()).toEqual({ ok: true, state: 'running', why: null })
    expect((await at('/metrics', 'POST')).status).toBe(405)
    expect((await at('/jobs')).status).toBe(404)
  })

  it('say that a worker is not ready before it takes jobs and once it has stopped', async () => {
    const worker = spillway.worker({ queues: { billing: {} }, jobs: [handled] })
    const server = serverOf(spillway, worker)
    await server.start()
    onTestFinished(() => server.stop())
    const statuses = async () =>
      Promise.all(['/healthz', '/readyz'].map(async (path) => (await fetch(`${server.url}${path}`)).status))

    const before = await statuses()
    await worker.start()
    const during = await statuses()
    await worker.stop()
    const after = await statuses()

    expect([before, during, after]).toEqual([
      [200, 503],
      [200, 200],
      [503, 503],
    ])
  })

  it('end the start of a worker whose port is taken, and leave no registration behind', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    const worker = spillway.worker({ queues: { billing: {} }, jobs: [handled], metrics: { port } })

    const refused = await worker.start().catch((error: unknown) => error)

    expect(refused).toMatchObject({ code: 'invalid_option', message: expect.stringContaining('it is taken') })
    expect(await store.listWorkers()).toEqual([])
  })

  it('are the same instruments in OpenTelemetry, by name and value', async () => {
    const meter = fakeMeter()
    const metrics = await spillway.metrics()
    const end = metrics.instrument(meter.api as never)

    const observed = await meter.collect()
    const samples = await metrics.samples()
    end()

    expect(meter.names.sort()).toEqual([...METRIC_NAMES].sort())
    for (const [name, values] of observed) expect(values, name).toEqual(samples.get(name as never) ?? [])
    expect(observed.get('spillway_store_up')).toEqual([{ labels: {}, value: 1 }])
    expect(await meter.collect()).toEqual(new Map())
  })

  it('have names and labels that stay as they are', () => {
    const shapes = Object.entries(METRICS).map(([name, { type, labels }]) =>
      `${name} ${type} ${labels.join(',')}`.trim(),
    )

    expect(shapes).toMatchSnapshot()
  })
})

function serverOf(spillway: Spillway, worker?: Worker): MetricsServer {
  const own = worker ?? ({ health: { state: 'running', why: null, isAlive: true, isReady: true } } as Worker)
  return new MetricsServer(
    { port: 0 },
    () => own,
    () => spillway.metrics(),
  )
}

/** As much of an OpenTelemetry meter as is asked for. */
function fakeMeter() {
  type Values = { labels: object; value: number }[]
  const names: string[] = []
  const callbacks = new Set<
    (result: { observe(of: { name: string }, value: number, labels: object): void }) => Promise<void>
  >()
  const made = (name: string) => {
    names.push(name)
    return { name }
  }
  return {
    names,
    api: {
      createObservableCounter: made,
      createObservableGauge: made,
      createHistogram: (name: string) => ({ ...made(name), record: () => undefined }),
      addBatchObservableCallback: (callback: never) => void callbacks.add(callback),
      removeBatchObservableCallback: (callback: never) => void callbacks.delete(callback),
    },
    async collect(): Promise<Map<string, Values>> {
      const found = new Map<string, Values>()
      for (const callback of callbacks) {
        await callback({
          observe({ name }, value, labels) {
            found.set(name, [...(found.get(name) ?? []), { labels, value }])
          },
        })
      }
      return found
    },
  }
}
