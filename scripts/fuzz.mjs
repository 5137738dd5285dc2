// `npm run fuzz [-- requests [seed]]`: requests made of our own OpenAPI document, 20,000 of them. None may be answered
// with a fault of ours, hang, or change something and be refused; every operation is accepted at least 50 times.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const [requests = '20000', seed = String(Date.now() % 1_000_000_000)] = process.argv.slice(2)
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--project=store', 'test/http/fuzz.test.ts'],
  { stdio: 'inherit', env: { ...process.env, SPILLWAY_FUZZ: requests, SPILLWAY_SEED: seed } },
)
process.exit(status ?? 1)
