import type { Upkeep } from '../store/store.js'

const AGAIN_MS = 600_000
const SAME_ERROR_MS = 30_000

/**
 * Writes how duties fare: each change at once, what stays as it is only now and then. Whoever leads tells of its
 * successes with each renewal, which is a row that is written anyway.
 */
export class DutyReport {
  private readonly succeededAt = new Map<string, number>()
  private readonly toldAt = new Map<string, number>()
  private telling: ReadonlyMap<string, number> = new Map()
  private readonly last = new Map<string, { readonly error: string | null; readonly at: number }>()
  private readonly failures = new Map<string, number>()

  constructor(private readonly store: Pick<Upkeep, 'reportDuty'>) {}

  /**
   * Ms since each duty last succeeded here, of those that have since the last {@link told}: told twice, a success would
   * move by as long as the second telling took, and hide a later one of whoever led meanwhile.
   */
  tell(): Readonly<Record<string, number>> {
    const now = performance.now()
    this.telling = new Map([...this.succeededAt].filter(([duty, at]) => this.toldAt.get(duty) !== at))
    return Object.fromEntries([...this.telling].map(([duty, at]) => [duty, now - at]))
  }

  /** What {@link tell} last gave is written. */
  told(): void {
    for (const [duty, at] of this.telling) this.toldAt.set(duty, at)
  }

  async passed(duty: string, failed: Error | null): Promise<void> {
    const error = failed === null ? null : failed.message.slice(0, 1_000)
    if (error === null) this.succeededAt.set(duty, performance.now())
    const failures = (this.failures.get(duty) ?? 0) + (error === null ? 0 : 1)
    this.failures.set(duty, failures)
    const last = this.last.get(duty)
    const now = performance.now()
    if (last?.error === error && now - last.at < (error === null ? AGAIN_MS : SAME_ERROR_MS)) return
    this.last.set(duty, { error, at: now })
    try {
      await this.store.reportDuty(duty, error, failures)
      this.failures.set(duty, (this.failures.get(duty) ?? 0) - failures)
    } catch {
      // Most likely the database is away, which the duty has reported; the next pass writes it.
      this.last.delete(duty)
    }
  }
}
