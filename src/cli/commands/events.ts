import type { Command } from 'commander'
import type { EventOptions } from '../../client/events.js'
import type { EventType } from '../../job/event-types.js'
import type { LoggedEvent } from '../../store/store.js'
import { collect, duration, whole } from '../arguments.js'
import { group, runs, subcommand } from '../command.js'
import type { Output } from '../output.js'
import { sameCommand } from '../same-command.js'
import { oneLine, span } from '../shown.js'
import { stopSignal } from '../stop-signal.js'

interface EventFlags {
  readonly after?: string
  readonly type?: readonly EventType[]
  readonly queue?: string
  readonly kind?: string
  readonly limit?: number
}

/** `spillway events …` */
export function eventsCommand(program: Command): void {
  const events = group(program, 'events', 'deaths and held jobs, in the order of the event log')

  runs<EventFlags>(
    filterFlags(subcommand(events, 'list', 'list events, the oldest that is kept first'))
      .option('--limit <rows>', 'rows of a page, up to 1000 (default: 50)', whole)
      .addHelpText('after', '\nExample:\n  spillway events list --after 4711 --type died --queue billing'),
    async ({ client, out, options }) => {
      const page = await client.events.list({ ...filterOf(options), limit: options.limit })
      if (out.isJson) return out.document(page)
      const rows = page.items.map((it) => [
        ...[
          it.position,
          out.time(it.at),
          out.colors.bold(it.type),
          it.jobId,
          oneLine(it.kind, 30),
          oneLine(it.queue, 30),
        ],
        ...[oneLine(it.reason ?? '', 30), oneLine(it.message ?? '', out.room(140))],
      ])
      out.table(['POSITION', 'WHEN', 'EVENT', 'JOB', 'KIND', 'QUEUE', 'REASON', 'MESSAGE'], rows, 'no events')
      if (page.cursor !== null) {
        out.line(`\nnext page: ${sameCommand(process.argv.slice(2), { '--after': true }, '--after', page.cursor)}`)
      }
    },
  )

  runs<EventFlags>(
    filterFlags(
      subcommand(events, 'tail', 'follow the log: new events as they come, until SIGINT or SIGTERM'),
    ).addHelpText(
      'after',
      '\nWith --json a document a line. Without --after it begins with what happens from now on.\n\nExample:\n  spillway events tail --after 4711 --json',
    ),
    async ({ client, out, options }) => {
      const stopped = new AbortController()
      void stopSignal(new Promise(() => undefined)).then(() => stopped.abort())
      for await (const event of client.events.subscribe({ ...filterOf(options), signal: stopped.signal })) {
        if (out.isJson) out.record(event)
        else out.line(lineOf(event, out))
      }
    },
  )

  runs<{ reason?: string }>(
    subcommand(events, 'retention [duration]', 'show how long events are kept, or set it').option(
      '--reason <text>',
      'why; kept in the audit log',
    ),
    async ({ client, out, options }, text) => {
      const retentionMs =
        text === undefined
          ? await client.events.retention()
          : await client.events.setRetention(duration(text), { reason: options.reason })
      if (out.isJson) return out.document({ retentionMs })
      out.line(`events are kept for ${span(retentionMs)}`)
    },
  )
}

function filterFlags(command: Command): Command {
  return command
    .option('--after <position>', 'only what stands behind this position')
    .option('--type <type>', 'died, quarantined, undecodable, released or imported; may be given again', collect)
    .option('--queue <name>', 'of this queue')
    .option('--kind <name>', 'of this kind')
}

function filterOf({ after, type, queue, kind }: EventFlags): EventOptions {
  return { after, types: type, queue, kind }
}

function lineOf(event: LoggedEvent, out: Output): string {
  const { dim, bold, red, yellow } = out.colors
  const { position, at, type, jobId, kind, queue, reason, message } = event
  const why = oneLine([reason, message].filter(Boolean).join(': '), 200)
  const said = type === 'died' ? red(type) : yellow(type)
  return `${dim(position)}  ${at.toISOString()}  ${said}  ${bold(jobId)} ${oneLine(kind, 40)} ${dim(`(${oneLine(queue, 40)})`)}  ${why}`.trimEnd()
}
