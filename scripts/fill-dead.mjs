// `node scripts/fill-dead.mjs URL [ROWS] [SCHEMA]`: fills the dead-letter queue of a migrated database, 1,000,000 rows by
// default, for measuring lists and bulk work by hand. bench/fill-dead.ts says with what.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import ts from 'typescript'

const [url, rows = '1000000', schema = 'spillway'] = process.argv.slice(2)
if (!url) {
  console.error('usage: node scripts/fill-dead.mjs URL [ROWS] [SCHEMA]')
  process.exit(2)
}

const source = readFileSync(new URL('../bench/fill-dead.ts', import.meta.url), 'utf8')
const { outputText } = ts.transpileModule(source, {
  compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
})
const built = new URL('../bench/dist/fill-dead.js', import.meta.url)
mkdirSync(fileURLToPath(new URL('.', built)), { recursive: true })
writeFileSync(built, outputText)
const { fillDead } = await import(built.href)

const client = new pg.Client({ connectionString: url })
await client.connect()
const begin = performance.now()
const seconds = () => Math.round((performance.now() - begin) / 1000)
await fillDead(client, {
  rows: Number(rows),
  schema,
  onProgress: (done) => console.log(`${done} rows, ${seconds()} s`),
})
await client.end()
console.log(`ready after ${seconds()} s`)
