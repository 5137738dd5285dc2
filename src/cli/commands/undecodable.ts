import type { Command } from 'commander'
import type { Release, UndecodableCheck } from '../../index.js'
import { SpillwayError } from '../../job/errors.js'
import type { Job } from '../../job/job.js'
import { collect, duration, whole } from '../arguments.js'
import { group, runs, subcommand } from '../command.js'
import { given } from '../dead-letter-filters.js'
import { showJob, showPage } from '../job-views.js'
import type { Output } from '../output.js'
import { oneLine } from '../shown.js'
import { loadWorker } from '../worker-module.js'

interface SelectFlags {
  readonly queue?: string
  readonly kind?: string
  readonly id?: readonly string[]
}

interface AskFlags extends SelectFlags {
  readonly module?: string
  readonly within?: number
}

interface ReleaseFlags extends AskFlags {
  readonly all?: boolean
  readonly force?: boolean
  readonly reason?: string
}

/** `spillway undecodable …` */
export function undecodableCommand(program: Command): void {
  const undecodable = group(program, 'undecodable', 'jobs whose payload no code could read, held until one can')

  runs<SelectFlags & { limit?: number; cursor?: string }>(
    subcommand(undecodable, 'list', 'list undecodable jobs, newest first, and why each is held')
      .option('--queue <queue>', 'of this queue only')
      .option('--kind <kind>', 'of this kind only')
      .option('--limit <rows>', 'rows of a page, up to 1000 (default: 50)', whole)
      .option('--cursor <cursor>', 'go on where the last page ended'),
    async ({ client, out, options: { queue, kind, limit, cursor } }) => {
      const page = await client.undecodable.list(given({ queue, kind }), { limit, cursor })
      showPage(out, page, ['ID', 'STATE', 'QUEUE', 'KIND', 'VERSION', 'CREATED', 'WHY'], rowOf, 'no job is undecodable')

      function rowOf(job: Job) {
        const start = [job.id, out.colors.yellow(job.state), oneLine(job.queue, 24), oneLine(job.kind, 30), job.version]
        return [...start, out.time(job.createdAt), oneLine(job.reason ?? '', out.room(90))]
      }
    },
  )

  runs(
    subcommand(undecodable, 'get <id>', 'show one undecodable job, its payload as it is stored'),
    async ({ client, out }, id) => {
      const job = await client.undecodable.get(id!)
      if (job === undefined) {
        throw new SpillwayError(
          'not_found',
          `no undecodable job ${oneLine(id!, 40)}; \`spillway jobs get\` finds a job in any state`,
        )
      }
      showJob(out, job)
    },
  )

  runs<AskFlags>(
    asks(
      subcommand(undecodable, 'check', 'how many would decode now, by kind and version; changes nothing'),
    ).addHelpText(
      'after',
      '\nExamples:\n  spillway undecodable check\n  spillway undecodable check --kind charge_card --module ./worker.mjs',
    ),
    async ({ client, out, options }) => {
      showCheck(out, await client.undecodable.check(selectorOf(options), await codeOf(options)))
    },
  )

  runs<ReleaseFlags>(
    asks(subcommand(undecodable, 'release [ids...]', 'send back to work what decodes now; the rest stays'))
      .option('--all', 'every one; beside a filter it widens nothing')
      .option('--force', 'also what does not decode, or cannot be checked')
      .option('--reason <text>', 'why; kept with the jobs and in the audit log')
      .addHelpText(
        'after',
        "\nExamples:\n  spillway undecodable release 800042\n  spillway undecodable release --kind charge_card --module ./worker.mjs --reason 'v2 is deployed'\n  spillway undecodable release --all",
      ),
    async ({ client, out, options }, ...given) => {
      const ids = [...given.flat(), ...(options.id ?? [])]
      const { force, reason, all } = options
      const selector = { ...selectorOf({ ...options, id: ids }), ...(all === true && { all }) }
      const code = force === true ? {} : await codeOf(options)
      showRelease(out, await client.undecodable.release(selector, { ...code, force, reason }))
    },
  )
}

function asks(command: Command): Command {
  return command
    .option('--queue <queue>', 'of this queue')
    .option('--kind <kind>', 'of this kind')
    .option('--id <id>', 'this job; may be given again', collect)
    .option('--module <file>', 'ask the code of this worker module, instead of a running worker')
    .option('--within <duration>', 'how long a worker may take to answer (default: 10s)', duration)
}

function selectorOf({ queue, kind, id }: SelectFlags) {
  return given({ queue, kind, ids: id === undefined || id.length === 0 ? undefined : id })
}

async function codeOf({ module, within }: AskFlags) {
  return given({ within, jobs: module === undefined ? undefined : (await loadWorker(module)).jobs })
}

function showCheck(out: Output, checked: UndecodableCheck): void {
  if (out.isJson) {
    out.document(checked)
    return
  }
  const rows = checked.groups.map((it) => [
    oneLine(it.kind, 40),
    it.version,
    it.total,
    it.wouldDecode ?? 'unknown',
    it.refused,
    it.unknown,
  ])
  out.table(['KIND', 'VERSION', 'JOBS', 'WOULD DECODE', 'WOULD NOT', 'UNKNOWN'], rows, 'no job is undecodable')
  const samples = checked.groups.flatMap(({ kind, version, samples }) =>
    samples.map(({ id, path, message }) => [
      id,
      `${oneLine(kind, 30)} v${version}`,
      oneLine(path),
      oneLine(message, out.room(80)),
    ]),
  )
  if (samples.length > 0) {
    out.line(`\n${out.colors.bold('some that would not')}`)
    out.table(['ID', 'KIND', 'PATH', 'WHY'], samples, '')
  }
  if (checked.unknown > 0) {
    out.note('unknown: no live worker that serves them has answered; start one, or name the code with --module')
  }
}

function showRelease(out: Output, { succeeded, failed }: Release): void {
  if (failed.length > 0) process.exitCode = 4
  if (out.isJson) {
    out.document({ succeeded, failed })
    return
  }
  out.line(`released ${succeeded.length} jobs${failed.length > 0 ? `, left ${failed.length} where they are:` : ''}`)
  if (failed.length === 0) return
  const shown = failed.slice(0, 20).map(({ id, code, message }) => [id, code, oneLine(message, out.room(50))])
  out.table(['ID', 'CODE', 'WHY'], shown, '')
  if (failed.length > shown.length) out.note(`and ${failed.length - shown.length} more; --json lists all of them`)
}
