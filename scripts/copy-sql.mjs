// The last step of `npm run build:library`: tsc knows nothing of SQL files, and the package needs its migrations.
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const from = join(root, 'src/store/postgres/migrations')
const to = join(root, 'dist/store/postgres/migrations')

const files = readdirSync(from).filter((name) => name.endsWith('.sql'))
if (files.length === 0) throw new Error('src/store/postgres/migrations holds no .sql file')

mkdirSync(to, { recursive: true })
for (const name of files) cpSync(join(from, name), join(to, name))
// A migration that was renamed must not stay behind under its old name.
for (const name of readdirSync(to)) if (!files.includes(name)) rmSync(join(to, name), { recursive: true })
