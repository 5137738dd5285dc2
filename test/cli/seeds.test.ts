import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Spillway } from 'spillway'
import { afterAll, expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { listen } from '../../src/http/index.js'
import type { JobSeed } from '../../src/testing/factories.js'
import { describeStore } from '../support/store.js'
import { commandLine, type Ran } from './spillway.js'

/** What lies there before each line: three dead letters, three failed jobs. */
const ROWS: Readonly<Record<string, JobSeed>> = {
  800042: dead('billing', 'charge_card', '2026-04-01', 'urgent'),
  800043: dead('billing', 'charge_card', '2026-05-01', 'manual_review'),
  800044: dead('mail', 'send_mail', '2026-05-02', 'urgent'),
  800050: { state: 'failed', queue: 'billing', kind: 'charge_card' },
  800051: { state: 'failed', queue: 'mail', kind: 'charge_card' },
  800052: { state: 'failed', queue: 'mail', kind: 'send_mail' },
}

/** Where they are after it; those that are not named are where they were. */
type After = Readonly<Record<string, string>>

interface Line {
  /** As the guide has it, with its program's name. */
  readonly line: string
  /** What it prints, of the one document of `--json`. */
  readonly says?: object
  readonly after?: After
  /** The reason that the rows of `after` carry. */
  readonly reason?: string
}

const retried = (...ids: string[]): After => Object.fromEntries(ids.map((id) => [id, 'available']))
const gone = (...ids: string[]): After => Object.fromEntries(ids.map((id) => [id, 'gone']))
const moved = (...ids: string[]): After => Object.fromEntries(ids.map((id) => [id, 'archived']))
const done = (count: number) => ({ state: 'done', matched: count, succeeded: count })
const listed = (...ids: string[]) => ({ items: ids.map((id) => expect.objectContaining({ id })), cursor: null })

const LINES: readonly Line[] = [
  { line: 'awa dlq depth', says: { total: 3 } },
  { line: 'awa dlq depth --queue billing', says: { total: 2 } },
  { line: 'awa dlq list --limit 20', says: listed('800044', '800043', '800042') },
  { line: 'awa dlq list --queue billing --kind charge_card --limit 50', says: listed('800043', '800042') },
  { line: 'awa dlq list --tag urgent --before-dlq-at 2026-04-30T00:00:00Z', says: listed('800042') },
  { line: 'awa dlq retry 800042', says: { id: '800042', state: 'available' }, after: retried('800042') },
  { line: 'awa dlq retry-bulk --queue billing', says: done(2), after: retried('800042', '800043') },
  { line: 'awa dlq retry-bulk --kind charge_card --tag manual_review', says: done(1), after: retried('800043') },
  { line: 'awa dlq retry-bulk --all', says: done(3), after: retried('800042', '800043', '800044') },
  {
    line: 'awa dlq move --queue billing --reason "audit_2026_q2" --all',
    says: done(1),
    after: moved('800050'),
    reason: 'audit_2026_q2',
  },
  {
    line: 'awa dlq move --kind charge_card --reason "audit_2026_q2"',
    says: done(2),
    after: moved('800050', '800051'),
    reason: 'audit_2026_q2',
  },
  { line: 'awa dlq purge --queue billing --kind charge_card', says: done(2), after: gone('800042', '800043') },
  { line: 'awa dlq purge --all', says: done(3), after: gone('800042', '800043', '800044') },
  {
    line: 'headgatectl --api http://127.0.0.1:8080 jobs retry JOB_ID',
    says: { id: '800042', state: 'available' },
    after: retried('800042'),
  },
]

describeStore('every command line of the source guides', ({ store, given, url }) => {
  const serving = listen({ spillway: new Client({ store }), access: 'open', port: 0 })
  afterAll(async () => (await serving).stop())

  it.each(LINES)('$line', async ({ line, says = {}, after = {}, reason }) => {
    for (const [id, row] of Object.entries(ROWS)) await given.job({ ...row, id })

    const ran: Ran & { document: object } = await commandLine(url).json(...wordsOf(line, (await serving).url))

    expect(ran).toMatchObject({ code: 0, document: says })
    const states: Record<string, string> = {}
    for (const id of Object.keys(ROWS)) {
      const job = await store.getJob(id, { payload: false })
      states[id] = job?.state ?? 'gone'
      if (reason !== undefined && id in after) expect(job?.dlq?.reason).toBe(reason)
    }
    expect(states).toEqual({
      ...Object.fromEntries(Object.entries(ROWS).map(([id, row]) => [id, row.state])),
      ...after,
    })
  })
})

const guides = join(import.meta.dirname, '..', '..', '..', 'shared', 'seeds')
if (existsSync(guides)) {
  it('knows every command line of the source guides', () => {
    const text = ['dead-letter-queue-guide.txt', 'dead-letter-state-guide.txt']
      .map((name) => readFileSync(join(guides, name), 'utf8'))
      .join('\n')
    const lines = text.split('\n').filter((line) => /^(awa|headgatectl) /.test(line))

    expect(new Set(lines)).toEqual(new Set(LINES.map(({ line }) => line)))
  })
}

/** How the guide's Python callers call it. */
const PYTHON = [
  'list_dlq',
  'get_dlq_job',
  'dlq_depth',
  'dlq_depth_by_queue',
  'retry_from_dlq',
  'bulk_retry_from_dlq',
  'move_failed_to_dlq',
  'bulk_move_failed_to_dlq',
  'fail_to_dlq',
  'purge_dlq',
  'purge_dlq_job',
]

it.each(PYTHON)('%s stands on the client, in camelCase', (name) => {
  const camel = name.replace(/_[a-z]/g, (pair) => pair.charAt(1).toUpperCase())

  expect(Reflect.get(Spillway.prototype, camel)).toBeTypeOf('function')
})

function dead(queue: string, kind: string, day: string, tag: string): JobSeed {
  return { state: 'archived', queue, kind, dlqAt: new Date(`${day}T12:00:00Z`), tags: [tag] }
}

/** What the shell makes of a line, without the name of the program; its server and its job are ours. */
function wordsOf(line: string, server: string): string[] {
  const ours = line.replace('http://127.0.0.1:8080', server).replace('JOB_ID', '800042')
  return (ours.match(/"[^"]*"|\S+/g) ?? []).slice(1).map((word) => word.replace(/^"(.*)"$/, '$1'))
}
