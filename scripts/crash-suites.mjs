import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Builds, then runs the crash suites with the given effort (test/support/effort.ts), and ends as they do. */
export function runCrashSuites(effort) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)))
  const run = (command, ...args) =>
    spawnSync(command, args, {
      stdio: 'inherit',
      shell: process.platform === 'win32',
      env: { ...process.env, SPILLWAY_EFFORT: effort },
    }).status ?? 1

  const built = run('npm', 'run', '--silent', 'build')
  if (built !== 0) process.exit(built)
  const hours = 12 * 3_600_000
  process.exit(
    run(
      process.execPath,
      'node_modules/vitest/vitest.mjs',
      'run',
      '--project=crash',
      `--testTimeout=${hours}`,
      ...process.argv.slice(2),
    ),
  )
}
