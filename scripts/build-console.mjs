// The last step of `npm run build`: the web console into dist/console, unless what is there was built from the same sources.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const from = join(root, 'console')
const to = join(root, 'dist/console')
const mark = join(to, '.built-from')

const hash = hashOf(from)
if (existsSync(mark) && readFileSync(mark, 'utf8') === hash) process.exit(0)

const vite = join(root, 'node_modules/vite/bin/vite.js')
const { status } = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], { cwd: from, stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
writeFileSync(mark, hash)

/** Names and contents of everything it is made of; its packages by the lock file. */
function hashOf(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => !name.includes('node_modules') && statSync(name).isFile())
  const sum = createHash('sha256')
  for (const name of [...names.sort(), join(root, 'package-lock.json')])
    sum.update(name.slice(root.length)).update(readFileSync(name))
  return sum.digest('hex')
}
