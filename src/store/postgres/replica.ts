import type { Database, RunOptions } from './database.js'
import { replicaQueries } from './queries/replica.js'
import type { Statement } from './sql.js'

/** Where statements that only read are run. */
export type Reader = Pick<Database, 'run'>

/** While the replica is away everything is read from the primary; it is asked again after this long. */
const AGAIN_MS = 10_000
/** Methods that stand among those which change something, and only look. */
const LOOKS = /^(get|list)|^(operationRows|payloadVersions|exportDlq|orphanOperation|undecodablePayloads)$/

/**
 * Reads from a replica what may be a moment old, and from the primary what this process has just changed: after a change
 * the replica is used again once it has replayed it.
 */
export class Replica implements Reader {
  private changes = 0
  private marked = 0
  /** The replica is used again when it has come so far. */
  private needs: string | undefined
  private awayUntil = 0

  constructor(
    private readonly primary: Database,
    private readonly replica: Database,
    private readonly onError: (error: Error) => void,
  ) {}

  async run<Params extends readonly unknown[], Row>(
    statement: Statement<Params, Row>,
    params: Params,
    options?: RunOptions,
  ): Promise<Row[]> {
    try {
      if (performance.now() >= this.awayUntil && (await this.isCaughtUp())) {
        return await this.replica.run(statement, params, { ...options, repeatable: false })
      }
    } catch (error) {
      this.awayUntil = performance.now() + AGAIN_MS
      this.onError(new Error(`the read replica is not used for now: ${(error as Error).message}`, { cause: error }))
    }
    return this.primary.run(statement, params, options)
  }

  /** The same methods; what follows one of them is read where its effect is seen. */
  noting<Part extends object>(part: Part): Part {
    const noted = Object.entries(part).map(([name, method]) => [
      name,
      typeof method !== 'function' || LOOKS.test(name)
        ? method
        : async (...params: unknown[]) => {
            try {
              return await (method as (...params: unknown[]) => unknown)(...params)
            } finally {
              this.changes++
            }
          },
    ])
    return Object.fromEntries(noted) as Part
  }

  async close(): Promise<void> {
    await this.replica.close()
  }

  private async isCaughtUp(): Promise<boolean> {
    if (this.marked !== this.changes) {
      const { changes } = this
      const [row] = await this.primary.run(replicaQueries.written, [])
      this.needs = row![0]
      this.marked = changes
    }
    if (this.needs === undefined) return true
    const [row] = await this.replica.run(replicaQueries.hasReached, [this.needs])
    if (row![0] !== 't') return false
    if (this.marked === this.changes) this.needs = undefined
    return true
  }
}
