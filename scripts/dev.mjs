// `npm run dev`: builds what is not built, then runs `spillway dev` on the embedded database of this folder.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const run = (command, args) =>
  spawnSync(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })

// Ctrl-C reaches the whole group; this process only waits for the one that stops in order.
process.on('SIGINT', () => undefined)
if (run('npm', ['run', '--silent', 'build']).status !== 0) process.exit(1)
process.exit(run(process.execPath, ['dist/cli/main.js', 'dev', ...process.argv.slice(2)]).status ?? 1)
