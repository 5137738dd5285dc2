import type { Upkeep } from '../store/store.js'

const AGAIN_MS = 600_000
const SAME_ERROR_MS = 30_000

/** Writes how duties fare: each change at once, what stays as it is only now and then. */
export class DutyReport {
  private readonly last = new Map<string, { readonly error: string | null; readonly at: number }>()
  private readonly failures = new Map<string, number>()

  constructor(private readonly store: Pick<Upkeep, 'reportDuty'>) {}

  async passed(duty: string, failed: Error | null): Promise<void> {
    const error = failed === null ? null : failed.message.slice(0, 1_000)
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
