import type { Command } from 'commander'
import { DUTIES } from '../../job/duties.js'
import type { StoredDuty } from '../../store/store.js'
import { group, runs, subcommand } from '../command.js'
import { oneLine } from '../shown.js'

/** `spillway duties …` */
export function dutiesCommand(program: Command): void {
  const duties = group(program, 'duties', 'what the workers do in the background, and its brakes')

  runs(subcommand(duties, 'list', 'list the duties and how they fare'), async ({ client, out }) => {
    const items = await client.duties.list()
    if (out.isJson) return out.document({ items })
    const rows = items.map((it) => [
      it.duty,
      it.pausedAt === null ? '' : out.colors.yellow('paused'),
      out.time(it.lastSuccessAt),
      it.failures,
      out.time(it.lastErrorAt),
      oneLine(it.lastError ?? '', 40),
      DUTIES[it.duty],
    ])
    out.table(['DUTY', '', 'LAST SUCCESS', 'FAILURES', 'LAST FAILURE', 'ERROR', 'WHAT IT DOES'], rows, '')
  })

  for (const [verb, summary] of VERBS) {
    runs<{ reason?: string }>(
      subcommand(duties, `${verb} <duty>`, summary).option('--reason <text>', 'why; kept in the audit log'),
      async ({ client, out, options }, name) => {
        const duty: StoredDuty = await client.duties[verb](name!, { reason: options.reason })
        if (out.isJson) return out.document(duty)
        const help = verb === 'pause' ? `; \`spillway duties resume ${duty.duty}\` lets it go on` : ''
        out.line(`${verb}d ${duty.duty}${help}`)
      },
    )
  }
}

const VERBS = [
  ['pause', 'let no worker begin another pass of a duty; one under way ends'],
  ['resume', 'let its passes go on'],
] as const
