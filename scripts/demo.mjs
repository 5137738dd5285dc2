// `npm run demo`: builds what is not built, but for the console, which it does without; then runs `spillway demo` on the embedded database of this folder.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const run = (command, args) =>
  spawnSync(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })

if (run('npm', ['run', '--silent', 'build:library']).status !== 0) process.exit(1)
process.exit(run(process.execPath, ['dist/cli/main.js', 'demo', ...process.argv.slice(2)]).status ?? 1)
