const FIRST_MS = 5_000
const LONGEST_MS = 6 * 3_600_000

/** Ms until the next try of what a receiver did not take, after so many of them: 5 s, 20 s, 80 s, … 6 h. */
export function retryMs(tries: number): number {
  return Math.min(FIRST_MS * 4 ** Math.max(0, tries - 1), LONGEST_MS)
}
