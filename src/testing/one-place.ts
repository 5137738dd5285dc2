import type { Database } from '../store/postgres/database.js'
import { checkQueries } from '../store/postgres/queries/check.js'

/** Something that must never be, found in the rows. */
export interface Fault {
  /** Which rule is broken: `one place`, `tags of dead letters`, `counts of causes`, … */
  readonly rule: string
  readonly subject: string
  readonly found: string
}

export interface OnePlaceOptions {
  /** The default of the queues without a policy, for the bound on charged starts. Default: 3. */
  readonly crashLimit?: number
}

export interface ExpectedGone {
  /**
   * How many of the ids left every place, by why, where the test knows: `{ revoked: 3 }`. Without it their sum is
   * checked, and each is taken for accounted for.
   */
  readonly gone?: Readonly<Record<string, number>>
}

/** How a producer's own list compares with what the store has. */
export interface Account {
  /** Given, and found. */
  readonly present: number
  /** Given, and in no place: accounted for by {@link Account.gone}. */
  readonly left: number
  /** What the counters say has left every place, by why: revoked, purged, expired, completed without retention. */
  readonly gone: Readonly<Record<string, number>>
}

/** Finds out whether every job is in exactly one place, at any moment and beside any load. */
export interface OnePlaceChecker {
  /** What is wrong, at most 100 faults of each rule; empty when nothing is. Looks at one snapshot, and locks nothing. */
  faults(): Promise<readonly Fault[]>
  /** Rejects with every fault found. */
  expectClean(): Promise<void>
  /**
   * Compares with the ids a producer was told: each is in exactly one place or left it with a count, and there is no
   * other. Rejects with the ids that were lost, and with those nobody enqueued. Looks at several snapshots, so the
   * store should be at rest.
   */
  expectExactly(ids: Iterable<string>, options?: ExpectedGone): Promise<Account>
  /** Jobs by state, counted row by row in one snapshot. */
  census(): Promise<Readonly<Record<string, number>>>
}

/**
 * The permanent checker of the invariant everything rests on: a job id is in exactly one table, or gone and counted;
 * and what stands beside the jobs (tags, causes, unique keys, charged starts) says the same as they do.
 *
 * @example
 * const checker = onePlace(db, 'spillway')
 * await checker.expectClean()
 */
export function onePlace(db: Database, schema: string, { crashLimit = 3 }: OnePlaceOptions = {}): OnePlaceChecker {
  const queries = checkQueries(schema)

  async function faults(): Promise<Fault[]> {
    const rows = await db.run(queries.faults, [crashLimit])
    return rows.map(([rule, subject, found]) => ({ rule, subject, found }))
  }

  async function expectClean(): Promise<void> {
    const found = await faults()
    if (found.length === 0) return
    throw new Error(
      `the store breaks its invariants:\n${found.map((it) => `- ${it.rule}: ${it.subject} ${it.found}`).join('\n')}`,
    )
  }

  async function expectExactly(ids: Iterable<string>, { gone: expected }: ExpectedGone = {}): Promise<Account> {
    await expectClean()
    const given = [...new Set(ids)]
    const list = given.join(',')

    const accounts = await db.run(queries.accounts, [list])
    const goneRows = await db.run(queries.gone, [list])
    const left = Number(goneRows.find(([reason]) => reason === 'missing')?.[1] ?? 0)
    const gone = Object.fromEntries(
      goneRows.filter(([reason]) => reason !== 'missing').map(([reason, n]) => [reason, Number(n)]),
    )

    const strangers = accounts.filter(([, place]) => place !== 'missing').map(([id, place]) => `${id} (${place})`)
    if (strangers.length > 0) throw new Error(`${strangers.length} jobs that nobody enqueued: ${some(strangers)}`)
    const counted = Object.values(expected ?? gone).reduce((sum, n) => sum + n, 0)
    if (left !== counted || (expected && !sameCounts(expected, gone))) {
      const missing = accounts.filter(([, place]) => place === 'missing').map(([id]) => id)
      throw new Error(
        `${left} of ${given.length} jobs are nowhere, ${counted} were ${expected ? 'expected to be gone' : 'counted as gone'} ` +
          `(counters: ${JSON.stringify(gone)}${expected ? `, expected: ${JSON.stringify(expected)}` : ''}): ${some(missing)}`,
      )
    }
    return { present: given.length - left, left, gone }
  }

  return {
    faults,
    expectClean,
    expectExactly,
    async census() {
      const rows = await db.run(queries.census, [])
      const census: Record<string, number> = {}
      // What is set aside is available in another place than the rest.
      for (const [, state, n] of rows) census[state] = (census[state] ?? 0) + Number(n)
      return census
    },
  }
}

function sameCounts(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): boolean {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => (a[key] ?? 0) === (b[key] ?? 0))
}

function some(items: readonly string[]): string {
  return items.length <= 20 ? items.join(', ') : `${items.slice(0, 20).join(', ')}, and ${items.length - 20} more`
}
