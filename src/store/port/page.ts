export interface Page<T> {
  readonly items: readonly T[]
  /** Hand it back for the next page; null at the end. */
  readonly cursor: string | null
  /** The search stopped after a bounded number of rows: there may be fewer items than asked for, and more behind it. */
  readonly partial?: boolean
}

export interface PageRequest {
  readonly limit: number
  readonly cursor?: string
}
