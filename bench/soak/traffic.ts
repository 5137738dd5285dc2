import { setTimeout as sleep } from 'node:timers/promises'
import { type Remote, spawn } from '../remote.js'
import { quantile } from '../rows.js'
import { SCHEMA } from '../scratch.js'
import type { TrafficMethods } from '../traffic-process.js'
import type { WorkerMethods } from '../worker-process.js'

const CONCURRENCY = 100

/** How long fresh jobs waited from the answer of their enqueue to the entry of their handler. */
export interface Pickup {
  readonly waits: readonly number[]
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/**
 * Producer and workers as processes of their own, on one queue and priority: jobs that die of their first failure, and
 * fresh ones beside them, which are watched.
 */
export class Traffic {
  private readonly workers: Remote<WorkerMethods>[] = []
  private readonly entered = new Map<number, number>()
  private constructor(
    private readonly url: string,
    private readonly producer: Remote<TrafficMethods>,
  ) {}

  static async open(url: string): Promise<Traffic> {
    const producer = spawn<TrafficMethods>('traffic-process.js')
    const traffic = new Traffic(url, producer)
    try {
      await producer.open(url, SCHEMA)
    } catch (error) {
      await traffic.close()
      throw error
    }
    return traffic
  }

  /** One more worker; the first one leads. */
  async addWorker(): Promise<Remote<WorkerMethods>> {
    const worker = spawn<WorkerMethods>('worker-process.js')
    this.workers.push(worker)
    await worker.open(this.url, SCHEMA, CONCURRENCY, 'stamp')
    await worker.start()
    return worker
  }

  begin(failingPerSecond: number, freshPerSecond: number): Promise<void> {
    return this.producer.begin(failingPerSecond, freshPerSecond)
  }

  /** What is sent while `work` runs. A job that no handler was entered for by the end of a grace is an error. */
  async during(work: () => Promise<unknown>, graceMs = 10_000): Promise<Pickup> {
    await this.producer.taken()
    await work()
    const sent = await this.producer.taken()
    const until = performance.now() + graceMs
    let missing = sent.length
    for (;;) {
      await this.collect()
      missing = sent.filter(([n]) => !this.entered.has(n)).length
      if (missing === 0) break
      if (performance.now() > until) throw new Error(`${missing} of ${sent.length} fresh jobs were not picked up`)
      await sleep(50)
    }
    return pickupOf(sent.map(([n, answered]) => Math.max(0, this.entered.get(n)! - answered)))
  }

  /** As the system does it when there is no memory left. What it has not told of its handlers is lost with it. */
  async kill(worker: Remote<WorkerMethods>): Promise<void> {
    this.workers.splice(this.workers.indexOf(worker), 1)
    await worker.kill()
  }

  halt(): ReturnType<Remote<TrafficMethods>['halt']> {
    return this.producer.halt()
  }

  async close(): Promise<void> {
    await Promise.all([...this.workers, this.producer].map((process) => process.end()))
  }

  private async collect(): Promise<void> {
    for (const worker of this.workers) {
      // The first entry counts: a job that is run again was picked up before.
      for (const { n, monotonic } of await worker.takeStamps()) {
        if (!this.entered.has(n)) this.entered.set(n, monotonic)
      }
    }
  }
}

export function pickupOf(waits: readonly number[]): Pickup {
  return {
    waits,
    p50: quantile(waits, 0.5),
    p99: quantile(waits, 0.99),
    max: quantile(waits, 1),
  }
}
