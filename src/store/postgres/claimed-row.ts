import type { ClaimedJob } from '../store.js'
import { textArray } from './text-array.js'

/** One claimed row, parsed where somebody looks: most handlers read only the payload. */
export class ClaimedRow implements ClaimedJob {
  bar: ClaimedJob['bar'] = undefined

  constructor(
    private readonly row: readonly (string | null)[],
    readonly queue: string,
    readonly priority: number,
    readonly leaseId: string,
  ) {}

  get id(): string {
    return this.row[0] as string
  }
  get kind(): string {
    return this.row[1] as string
  }
  get version(): number {
    return Number(this.row[2])
  }
  get payload(): string {
    return this.row[3] as string
  }
  get attempt(): number {
    return Number(this.row[4])
  }
  get crashAttempt(): number {
    return Number(this.row[5])
  }
  get maxAttempts(): number {
    return Number(this.row[6])
  }
  get chargeBase(): number {
    return Number(this.row[7])
  }
  get runLease(): number {
    return Number(this.row[8])
  }
  get generation(): number {
    return Number(this.row[9])
  }
  get handbacks(): number {
    return Number(this.row[10])
  }
  get position(): string {
    return this.row[11] as string
  }
  get uniqueKey(): string | null {
    return this.row[12] ?? null
  }
  get tags(): readonly string[] {
    return textArray(this.row[13] ?? null)
  }
  get metadata(): string | null {
    return this.row[14] ?? null
  }
  get timeoutMs(): number | null {
    const text = this.row[15] ?? null
    return text === null ? null : Number(text)
  }
  get createdAt(): Date {
    return new Date(Number(this.row[16]))
  }
  get runAt(): Date {
    return new Date(Number(this.row[17] ?? this.row[16]))
  }
  get deadlineInMs(): number | null {
    const text = this.row[18] ?? null
    return text === null ? null : Number(text)
  }
  get releaseId(): string | null {
    return this.row[21] ?? null
  }
  /** The slot its lease was put into; it may have been carried to another one since. */
  get slot(): number {
    return Number(this.row[19])
  }
}
