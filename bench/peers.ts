import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Scenario } from './bench.js'
import type { PeerMethods } from './peer-process.js'
import { PEERS, type PeerName, type PeerSpec } from './peer-queues.js'
import { type Remote, spawn } from './remote.js'
import type { RowName, Sample } from './rows.js'
import { PER_SECOND, pickupSamples, WARM_UP } from './scenarios/latency.js'

const HOW = `mkdir peers && cd peers && npm init -y && npm install pg-boss@12 graphile-worker bullmq
  BENCH_PEERS_DIR=…/peers [BENCH_PEERS_NODE=…/node] [REDIS_URL=…] npm run bench -- --peers`

/** What is measured of the peers that are installed; says of the others how to have them. */
export async function peerScenarios({ scratch }: Bench): Promise<Scenario[]> {
  const there: PeerName[] = []
  for (const name of Object.keys(PEERS) as PeerName[]) {
    const spec: PeerSpec = PEERS[name]
    const missing = lack(spec)
    // Peers have no say in where they put their tables, and what is there already may be somebody's.
    const taken = spec.schema !== null && (await scratch.hasSchema(spec.schema))
    if (missing ?? taken) console.log(`without ${name}: ${missing ?? `there is a schema ${spec.schema} already`}`)
    else there.push(name)
  }
  if (there.length === 0) console.log(`to have peers beside:\n  ${HOW}`)
  return there.flatMap(scenariosOf)
}

function lack({ pkg, needs }: PeerSpec): string | undefined {
  const dir = process.env.BENCH_PEERS_DIR
  if (!dir) return 'BENCH_PEERS_DIR is not set'
  if (needs && !process.env[needs]) return `${needs} is not set`
  try {
    createRequire(join(dir, 'x.js')).resolve(pkg)
    return undefined
  } catch {
    return `${pkg} is not installed in ${dir}`
  }
}

function scenariosOf(name: PeerName): Scenario[] {
  const { settings, schema } = PEERS[name]
  const one = (
    row: RowName,
    dies: boolean,
    measure: (peer: Remote<PeerMethods>, quick: boolean) => Promise<number>,
  ): Scenario => ({
    rows: [row],
    isPeer: true,
    run: (bench) =>
      withPeers(bench, name, schema, dies, 1, async ([peer]) => [
        { name: `${row}@${name}`, value: await measure(peer!, bench.quick), settings: { tuned: settings } },
      ]),
  })
  const emptied = async (peer: Remote<PeerMethods>, count: number) => {
    await peer.preload(count)
    return count / (await peer.drain(count))
  }
  const rate = ({ count, seconds }: { count: number; seconds: number }) => count / seconds

  return [
    one('drain', false, (peer, quick) => emptied(peer, quick ? 2000 : 100_000)),
    one('enqueue_single', false, async (peer, quick) => rate(await peer.single(16, quick ? 1 : 4))),
    one('enqueue_bulk', false, async (peer, quick) => rate(await peer.bulk(2, quick ? 1 : 4, 1000))),
    one('terminal_failure', true, (peer, quick) => emptied(peer, quick ? 1000 : 20_000)),
    {
      rows: ['pickup_p50', 'pickup_p99'],
      isPeer: true,
      run: (bench) =>
        withPeers(bench, name, schema, false, 2, async ([worker, producer]) => {
          const count = PER_SECOND * (bench.quick ? 2 : 20) + WARM_UP
          await worker!.stamp()
          await sleep(1500)
          const sent = (await producer!.paced(PER_SECOND, count)).slice(WARM_UP)
          const entered = new Map(await worker!.stamps(count))
          return pickupSamples(`@${name}`, sent, (n) => entered.get(n + WARM_UP) ?? Number.NaN)
        }),
    },
  ]
}

/** Runs `work` with processes of a peer in an empty place of its own, which is emptied again. */
async function withPeers(
  bench: Bench,
  name: PeerName,
  schema: string | null,
  dies: boolean,
  count: number,
  work: (peers: Remote<PeerMethods>[]) => Promise<Sample[]>,
): Promise<Sample[]> {
  const node = process.env.BENCH_PEERS_NODE
  const peers = Array.from({ length: count }, () => spawn<PeerMethods>('peer-process.js', [], node))
  try {
    for (const peer of peers) await peer.open(name, bench.scratch.url, dies)
    const samples = await work(peers)
    for (const peer of peers) await peer.close()
    return samples
  } finally {
    for (const peer of peers) await peer.end()
    if (schema !== null) await bench.scratch.query(`drop schema if exists ${schema} cascade`)
  }
}
