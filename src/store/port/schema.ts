export interface MigrationReport {
  readonly applied: readonly string[]
  readonly version: number
}

export interface SchemaStatus {
  /** 0 when there is no schema. */
  readonly version: number
  readonly latest: number
  readonly pending: readonly string[]
}
