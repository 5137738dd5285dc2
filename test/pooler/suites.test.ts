import { afterAll, inject, it } from 'vitest'
import { throughPooler } from '../support/database.js'
import { hasPgbouncer, startPgbouncer } from '../support/pgbouncer.js'

/** Suites that know nothing of poolers, each through a transaction pool. */
const SUITES = [
  '../store/retrying.test.js',
  '../store/operating.test.js',
  '../store/editing.test.js',
  '../store/idempotent.test.js',
  '../client/enqueue.test.js',
  '../client/transaction.test.js',
  '../operations/undoing.test.js',
  '../worker/cancelling.test.js',
]

/** With SPILLWAY_EFFORT=long these too: statements that are prepared anew each time take theirs. */
const MORE = [
  '../store/listing.test.js',
  '../store/reports.test.js',
  '../store/killing.test.js',
  '../store/upkeep-deadlines.test.js',
  '../operations/running.test.js',
]
const suites = (process.env['SPILLWAY_EFFORT'] ?? 'short') === 'short' ? SUITES : [...SUITES, ...MORE]

if (hasPgbouncer) {
  const pooler = await startPgbouncer(inject('server').url, { connections: 20 })
  afterAll(() => pooler.stop())
  throughPooler(pooler.url)
  for (const suite of suites) await import(suite)
} else {
  it.skip('through a transaction pool: these suites need pgbouncer (apt-get install pgbouncer)', () => undefined)
}
