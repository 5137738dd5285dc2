import type { Socket } from 'node:net'
import type pg from 'pg'
import type { Bench } from './bench.js'
import type { Calibration, Sample } from './rows.js'
import { connect, type Scratch } from './scratch.js'

const TABLE = 'spillway_bench_tools.raw_job'
const CLIENTS = 16
const CLAIM_BATCH = 1000

const MEASURES: Record<Calibration, (scratch: Scratch, quick: boolean) => Promise<Sample>> = {
  raw_commits: ({ url }, quick) => commits(url, quick ? 1 : 3),
  raw_multirow_insert: ({ url }, quick) => multirow(url, quick ? 1 : 3),
  raw_claim_delete: (scratch, quick) => claimDelete(scratch, quick ? 20_000 : 100_000),
}

/** What the machine can do without an engine, measured the same way every time. */
export function calibrate(name: Calibration, { scratch, quick }: Bench): Promise<Sample> {
  return onTable(scratch, () => MEASURES[name](scratch, quick))
}

async function onTable(scratch: Scratch, measure: () => Promise<Sample>): Promise<Sample> {
  await scratch.query(
    `create table ${TABLE} (
       id bigint generated always as identity primary key,
       queue text not null default 'q',
       run_at timestamptz not null default now(),
       payload jsonb not null)`,
  )
  await scratch.checkpoint()
  try {
    return await measure()
  } finally {
    await scratch.query(`drop table ${TABLE}`)
  }
}

/** Prepared one-row inserts, each its own commit. The wire is written by hand, so that it costs as little as pgbench. */
async function commits(url: string, seconds: number): Promise<Sample> {
  const insert = { name: 'i', text: `insert into ${TABLE} (payload) values ($1)`, values: ['{"i":1}'] }
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connect(url)))
  for (const client of clients) await client.query(insert)

  const begin = performance.now()
  const counts = await Promise.all(clients.map((client) => hammer(client, begin + seconds * 1000)))
  const took = (performance.now() - begin) / 1000

  await Promise.all(clients.map((client) => client.end()))
  const count = counts.reduce((sum, n) => sum + n, 0)
  return { name: 'raw_commits', value: count / took, settings: { clients: CLIENTS, seconds } }
}

/** Bind and Execute of statement `i`, Sync; the next as soon as the server is ready again. */
function hammer(client: pg.Client, until: number): Promise<number> {
  const value = Buffer.from('{"i":1}')
  const bind = message('B', '\0i\0', int16(0), int16(1), int32(value.length), value, int16(0))
  const round = Buffer.concat([bind, message('E', '\0', int32(0)), message('S')])
  const socket = (client as unknown as { connection: { stream: Socket } }).connection.stream
  const driver = socket.listeners('data') as ((chunk: Buffer) => void)[]
  socket.removeAllListeners('data')
  return new Promise((resolve, reject) => {
    let count = 0
    const onData = (chunk: Buffer) => {
      if (chunk[0] === 0x45) reject(new Error(`raw_commits: ${chunk.toString('latin1')}`))
      // ReadyForQuery is the last of an answer: Z, its length 5, the status.
      if (chunk.at(-6) !== 0x5a) return
      count++
      if (performance.now() < until) return void socket.write(round)
      socket.off('data', onData)
      for (const listener of driver) socket.on('data', listener)
      resolve(count)
    }
    socket.on('data', onData)
    socket.write(round)
  })
}

function message(type: string, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)))
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

function int16(n: number): Buffer {
  const buffer = Buffer.alloc(2)
  buffer.writeInt16BE(n)
  return buffer
}

function int32(n: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeInt32BE(n)
  return buffer
}

/** Inserts of 1,000 rows through `unnest`, one after the other. */
async function multirow(url: string, seconds: number): Promise<Sample> {
  const batch = 1000
  const client = await connect(url)
  const text = `insert into ${TABLE} (payload) select x from unnest($1::jsonb[]) x`
  let count = 0
  const begin = performance.now()
  while (performance.now() - begin < seconds * 1000) {
    const values = [Array.from({ length: batch }, (_, i) => JSON.stringify({ i }))]
    await client.query({ name: 'm', text, values })
    count += batch
  }
  const value = count / ((performance.now() - begin) / 1000)
  await client.end()
  return { name: 'raw_multirow_insert', value, settings: { batch, clients: 1, seconds } }
}

/** Takes rows in order and deletes them, two statements and one commit for each batch, until none is left. */
async function claimDelete(scratch: Scratch, rows: number): Promise<Sample> {
  const batch = CLAIM_BATCH
  await scratch.query(
    `insert into ${TABLE} (payload) select jsonb_build_object('i', i) from generate_series(1, ${rows}) i`,
  )
  await scratch.query(`analyze ${TABLE}`)
  await scratch.checkpoint()
  const client = await connect(scratch.url)
  const select = `select id, payload from ${TABLE} order by id limit $1 for update skip locked`
  const begin = performance.now()
  for (;;) {
    await client.query('begin')
    const taken = await client.query<{ id: string }>({ name: 's', text: select, values: [batch] })
    const ids = taken.rows.map((row) => row.id)
    if (ids.length > 0) {
      await client.query({ name: 'd', text: `delete from ${TABLE} where id = any ($1)`, values: [ids] })
    }
    await client.query('commit')
    if (ids.length === 0) break
  }
  const value = rows / ((performance.now() - begin) / 1000)
  await client.end()
  return { name: 'raw_claim_delete', value, settings: { batch, clients: 1, rows } }
}
