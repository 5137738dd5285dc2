// `npm run bench -- [options]`: builds the library and the benchmark, then runs it against dist, as a user would.
// `--built` takes dist as it is.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))
const from = join(root, 'bench')
const to = join(from, 'dist')

const args = process.argv.slice(2).filter((arg) => arg !== '--built')
if (!process.argv.includes('--built')) {
  const npm = ['run', '--silent', 'build']
  const built = spawnSync('npm', npm, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
  if (built.status !== 0) process.exit(1)
}

// Types are checked by `npm run typecheck`; here they are only taken away.
const options = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true }
for (const file of readdirSync(from, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))) {
  const { outputText } = ts.transpileModule(readFileSync(join(from, file), 'utf8'), { compilerOptions: options })
  const out = join(to, file.replace(/\.ts$/, '.js'))
  mkdirSync(dirname(out), { recursive: true })
  // Only what changed: another run may be reading it.
  if (!existsSync(out) || readFileSync(out, 'utf8') !== outputText) writeFileSync(out, outputText)
}

// The folder of the caller stays, so that --json names a file there.
const { status } = spawnSync(process.execPath, [join(to, 'main.js'), ...args], { stdio: 'inherit' })
process.exit(status ?? 1)
