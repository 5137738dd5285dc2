/**
 * What many callers look at, asked once for all of them: ten open consoles cost the database no more than one. A change
 * made through the same server is seen at once, one made elsewhere within `freshMs`, or within ten times what the
 * answer took, so that what is slow to count is not counted all the time.
 */
export class SharedReads {
  private readonly kept = new Map<string, { until: number; readonly answer: Promise<unknown> }>()

  constructor(private readonly freshMs: number) {}

  once<T>(key: string, ask: () => Promise<T>): Promise<T> {
    if (this.freshMs === 0) return ask()
    const now = performance.now()
    const known = this.kept.get(key)
    if (known !== undefined && known.until > now) return known.answer as Promise<T>
    this.forget(now)
    const answer = ask()
    const entry = { until: Number.POSITIVE_INFINITY, answer }
    this.kept.set(key, entry)
    answer.then(
      () => {
        const end = performance.now()
        entry.until = end + Math.max(this.freshMs, AGAIN * (end - now))
      },
      // What failed is asked again by the next one.
      () => this.kept.delete(key),
    )
    return answer
  }

  /** What is over is of use to nobody; a page of jobs is large. */
  private forget(now: number): void {
    for (const [key, { until }] of this.kept) if (until <= now) this.kept.delete(key)
    if (this.kept.size >= MAX_KEPT) this.kept.clear()
  }

  clear(): void {
    this.kept.clear()
  }
}

const MAX_KEPT = 200
const AGAIN = 10
