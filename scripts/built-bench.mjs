// What `npm run bench` and `npm run soak` begin with: the library built, unless `--built` takes dist as it is, and the
// programs of bench/ beside it, so that they run against dist as a user would.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))
const from = join(root, 'bench')
const to = join(from, 'dist')

/** Runs a program of bench/ with the arguments of this one, and ends as it does. */
export function runBuilt(program) {
  const args = process.argv.slice(2).filter((arg) => arg !== '--built')
  if (!process.argv.includes('--built')) {
    const npm = ['run', '--silent', 'build']
    const built = spawnSync('npm', npm, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
    if (built.status !== 0) process.exit(1)
  }
  transpile()
  // The folder of the caller stays, so that --json names a file there.
  const { status } = spawnSync(process.execPath, [join(to, program), ...args], { stdio: 'inherit' })
  process.exit(status ?? 1)
}

/** Types are checked by `npm run typecheck`; here they are only taken away. */
function transpile() {
  const options = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true }
  for (const file of readdirSync(from, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))) {
    const { outputText } = ts.transpileModule(readFileSync(join(from, file), 'utf8'), { compilerOptions: options })
    const out = join(to, file.replace(/\.ts$/, '.js'))
    if (existsSync(out) && readFileSync(out, 'utf8') === outputText) continue
    mkdirSync(dirname(out), { recursive: true })
    // In one step, because another run may be reading it.
    const draft = `${out}.${process.pid}.new`
    writeFileSync(draft, outputText)
    renameSync(draft, out)
  }
}
