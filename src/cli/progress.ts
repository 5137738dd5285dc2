import type { Operation } from '../store/store.js'
import { span } from './shown.js'

const BAR = 24
const LINE_EVERY_MS = 3_000
const REDRAW_EVERY_MS = 100

/**
 * How far an operation is, on stderr: one line that is drawn again and again on a terminal, a line every three seconds
 * elsewhere. Pace and time left are of the moving alone, without the counting before it.
 */
export class Progress {
  private readonly isTerminal = process.stderr.isTTY === true
  private lastAt = performance.now()
  private began: { readonly at: number; readonly done: number } | undefined
  private isDrawn = false

  update(operation: Operation): void {
    const now = performance.now()
    if (operation.phase !== 'counting') this.began ??= { at: now, done: doneOf(operation) }
    if (now - this.lastAt < (this.isTerminal ? REDRAW_EVERY_MS : LINE_EVERY_MS)) return
    this.lastAt = now
    const text = this.textOf(operation, now)
    if (!this.isTerminal) {
      process.stderr.write(`spillway: operation ${operation.id}: ${text}\n`)
      return
    }
    this.isDrawn = true
    process.stderr.write(`\r\u001b[K${`${bar(operation)} ${text}`.slice(0, (process.stderr.columns || 100) - 1)}`)
  }

  /** Takes the drawn line away, so that what comes next begins a line. */
  end(): void {
    if (this.isDrawn) process.stderr.write('\r\u001b[K')
    this.isDrawn = false
  }

  private textOf(operation: Operation, now: number): string {
    const { phase, matched, failed, skipped } = operation
    if (phase === 'counting') return `counting: ${matched} so far`
    const done = doneOf(operation)
    const seconds = (now - (this.began?.at ?? now)) / 1_000
    const pace = seconds < 0.5 ? 0 : (done - (this.began?.done ?? 0)) / seconds
    const left = Math.max(0, matched - done)
    return [
      `${done}/${matched} ${phase}`,
      pace > 0 && `${pace < 10 ? pace.toFixed(1) : Math.round(pace)} rows/s`,
      pace > 0 && left > 0 && `eta ${span((left / pace) * 1_000)}`,
      skipped > 0 && `${skipped} skipped`,
      `${failed} failed`,
    ]
      .filter(Boolean)
      .join(', ')
  }
}

function bar(operation: Operation): string {
  const share = operation.matched === 0 ? 0 : Math.min(1, doneOf(operation) / operation.matched)
  const full = operation.phase === 'counting' ? 0 : Math.round(share * BAR)
  return `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}]`
}

function doneOf({ succeeded, skipped, failed }: Operation): number {
  return succeeded + skipped + failed
}
