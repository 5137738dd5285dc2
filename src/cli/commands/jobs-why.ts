import type { Command } from 'commander'
import { SpillwayError } from '../../job/errors.js'
import { runs, subcommand } from '../command.js'
import { oneLine } from '../shown.js'

/** `spillway jobs why` */
export function whyCommand(jobs: Command): void {
  runs(
    subcommand(jobs, 'why <id>', 'say where a job is, what keeps it there, and what would let it run'),
    async ({ client, out }, id) => {
      const why = await client.jobs.why(id!)
      if (why === undefined)
        throw new SpillwayError('not_found', `no job ${oneLine(id!, 40)}: it was never there, or is gone`)
      if (out.isJson) return out.document(why)
      out.line(`job ${why.id} is ${out.colors.bold(why.state)}: ${why.summary}`)
      for (const { message } of why.because) out.line(`  because ${oneLine(message)}`)
      for (const help of why.wouldRun) out.line(`  would run: ${oneLine(help)}`)
    },
  )
}
