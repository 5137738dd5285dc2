import type { Command } from 'commander'
import { SpillwayError } from '../../job/errors.js'
import { decodePayload } from '../../job/payload.js'
import type { QuarantinedDetail } from '../../store/store.js'
import { collect, whole } from '../arguments.js'
import { group, runs, subcommand } from '../command.js'
import { nextPageCommand } from '../next-page.js'
import type { Output } from '../output.js'
import { block, json, oneLine } from '../shown.js'

/** `spillway quarantine …` */
export function quarantineCommand(program: Command): void {
  const quarantine = group(program, 'quarantine', 'jobs that kill their workers: held by fingerprint')

  runs<{ limit?: number; cursor?: string }>(
    subcommand(quarantine, 'list', 'list what is held, newest first')
      .option('--limit <rows>', 'rows of a page, up to 1000 (default: 50)', whole)
      .option('--cursor <cursor>', 'go on where the last page ended'),
    async ({ client, out, options }) => {
      const page = await client.quarantine.list(options)
      if (out.isJson) return out.document(page)
      const head = ['FINGERPRINT', 'KIND', 'QUEUE', 'HELD', 'CRASHES', 'SINCE', 'WHAT']
      const rows = page.items.map((it) => [
        it.fingerprint,
        oneLine(it.kind, 40),
        oneLine(it.queue, 30),
        it.held,
        it.crashes,
        out.time(it.heldAt),
        standing(it),
      ])
      out.table(head, rows, 'nothing is quarantined')
      if (page.cursor !== null) out.line(`\nnext page: ${nextPageCommand(process.argv.slice(2), page.cursor)}`)
    },
  )

  runs<{ payload?: true }>(
    subcommand(quarantine, 'show <fingerprint>', 'show its crashes, workers and jobs').option(
      '--payload',
      'with the payload',
    ),
    async ({ client, out, options }, fingerprint) => {
      const found = await client.quarantine.get(fingerprint!, { payload: options.payload ?? false })
      if (found === undefined) {
        throw new SpillwayError(
          'not_found',
          `nothing of fingerprint ${oneLine(fingerprint!, 40)} is held: \`spillway quarantine list\` shows what is`,
        )
      }
      show(out, found)
    },
  )

  runs<{ canary?: true; id?: readonly string[]; reason?: string }>(
    subcommand(quarantine, 'release [fingerprint]', 'let a fingerprint go, a canary of it, or single jobs')
      .option('--canary', 'one job first, alone in its worker; the rest follows when it succeeds')
      .option('--id <id>', 'only this job; may be given again', collect)
      .option('--reason <text>', 'why; kept with the jobs')
      .addHelpText(
        'after',
        '\nExamples:\n  spillway quarantine release 9c0ff1a2b3c4d5e6f708192a3b4c5d6e --canary\n  spillway quarantine release --id 42 --id 43',
      ),
    async ({ client, out, options }, fingerprint) => {
      const { canary = false, id, reason } = options
      if ((fingerprint === undefined) === (id === undefined) || (canary && id !== undefined)) {
        throw new SpillwayError('invalid_option', 'name a fingerprint, with or without --canary, or jobs by --id')
      }
      if (id !== undefined) {
        const { releaseId, succeeded, failed } = await client.quarantine.releaseIds(id, { reason })
        if (out.isJson) out.document({ releaseId, succeeded, failed })
        else out.line(`released ${jobs(succeeded.length)}: each runs alone where its fingerprint is still quarantined`)
        for (const { message } of out.isJson ? [] : failed) out.note(message)
        if (failed.length > 0) process.exitCode = 4
        return
      }
      const released = await client.quarantine.release(fingerprint!, { canary, reason })
      if (out.isJson) return out.document(released)
      if (canary) out.line(`released job ${released.ids?.[0]} as the canary: the rest follows when it succeeds`)
      else out.line(`released ${jobs(released.released)}`)
    },
  )
}

function show(out: Output, found: QuarantinedDetail): void {
  const { payloadText, ...rest } = found
  const decoded = payloadText === undefined ? undefined : decodePayload(payloadText, { bigint: true })
  const payload = decoded?.ok ? { payload: decoded.value } : {}
  if (out.isJson) {
    out.document({ ...rest, ...payload })
    return
  }

  out.pairs([
    ['fingerprint', found.fingerprint],
    ['kind', oneLine(found.kind)],
    ['queue', oneLine(found.queue)],
    ['standing', standing(found)],
    ['held since', out.longTime(found.heldAt)],
    ['held', jobs(found.held)],
    ['blocked', `${found.blockedIsPartial ? 'at least ' : ''}${jobs(found.blocked)} that wait`],
    ['workers', found.workers.map((name) => oneLine(name, 40)).join(', ')],
  ])
  if (payloadText !== undefined) {
    const text = decoded?.ok ? json(decoded.value, 2) : payloadText
    out.line(`\n${out.colors.bold('payload')}\n${block(text, '  ')}`)
  }
  out.line(`\n${out.colors.bold('crashes')} (newest first)`)
  const crashes = found.crashLog.map((crash) => [
    out.time(crash.at),
    oneLine(crash.worker ?? '', 40),
    oneLine(crash.host ?? '', 30),
    crash.jobId,
    crash.alone ? 'alone' : 'in company',
    crash.closedBy !== null ? `closed by ${crash.closedBy}` : crash.counted ? 'counts' : 'counted with another',
  ])
  out.table(['WHEN', 'WORKER', 'HOST', 'JOB', 'RAN', ''], crashes, 'none is remembered')
  out.line(`\n${out.colors.bold('jobs')} (the first 100 that are held, and the first 100 that wait)`)
  out.table(
    ['ID', 'STATE', 'QUEUE', 'WHY', 'SINCE'],
    found.jobs.map(({ id, state, queue, reason, at }) => [
      id,
      state,
      oneLine(queue, 30),
      reason === null ? 'blocked by it' : (WHY[reason] ?? oneLine(reason, 40)),
      out.time(at),
    ]),
    'none',
  )
}

const WHY: Readonly<Record<string, string>> = {
  crash_limit: 'its crash convicted the fingerprint',
  crash_bound: 'used up its starts by crashes',
  fingerprint: 'the fingerprint was convicted',
  parked: 'enqueued meanwhile, and parked',
  handed_back: 'handed back ten times in a row',
}

function standing(it: { convicted: boolean; releasing: boolean; canaryId: string | null }): string {
  if (it.releasing) return 'being released'
  if (it.canaryId !== null) return `canary ${it.canaryId} is out`
  return it.convicted ? 'convicted' : 'single jobs'
}

function jobs(n: number): string {
  return n === 1 ? '1 job' : `${n} jobs`
}
