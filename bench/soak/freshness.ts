import type { Spillway } from 'spillway'

/** How often each duty runs at least, whether or not there is anything to do, in seconds. */
const RHYTHM_S = {
  ...{ rescue: 15, unserved: 30, evict: 10, retain: 60, retain_dlq: 60, retain_held: 60, forget: 60 },
  // Hardly ever while nothing moves; here something always does.
  rings: 15,
} as const

/** The longest that a duty went without a success, and by how much that is more than its rhythm. */
export interface Silence {
  readonly duty: string
  readonly silentS: number
  readonly overdueS: number
}

const LOOK_MS = 1_000

/** Watches when duties last succeeded. */
export class Freshness {
  private timer: NodeJS.Timeout | undefined
  private since = 0
  private silent = new Map<string, number>()

  constructor(private readonly spillway: Spillway) {}

  /** From now on; what was before does not count. */
  watch(): void {
    this.since = Date.now()
    this.silent = new Map()
    this.timer = setInterval(() => void this.look().catch(() => undefined), LOOK_MS)
  }

  /** Ends the watch. May be called twice. */
  stop(): Silence[] {
    clearInterval(this.timer)
    return Object.entries(RHYTHM_S).map(([duty, rhythm]) => {
      const silentS = this.silent.get(duty) ?? 0
      return { duty, silentS, overdueS: Math.max(0, silentS - rhythm) }
    })
  }

  private async look(): Promise<void> {
    for (const { duty, lastSuccessAt } of await this.spillway.duties.list()) {
      const seconds = (Date.now() - Math.max(this.since, lastSuccessAt?.getTime() ?? 0)) / 1000
      this.silent.set(duty, Math.max(seconds, this.silent.get(duty) ?? 0))
    }
  }
}
