import type { Command } from 'commander'
import { group, runs, subcommand } from '../command.js'
import { oneLine } from '../shown.js'

/** `spillway workers …` */
export function workersCommand(program: Command): void {
  const workers = group(program, 'workers', 'the processes that run jobs')

  runs(
    subcommand(workers, 'list', 'list the registered workers and when they were last heard'),
    async ({ client, out }) => {
      const all = await client.workers.list()
      if (out.isJson) return out.document({ items: all })
      const rows = all.map((it) => [
        oneLine(it.name, 40),
        it.state === 'stopping' ? out.colors.yellow(it.state) : it.state,
        oneLine(it.host, 24),
        it.pid,
        oneLine(it.queues.join(', '), 40),
        oneLine(it.kinds.join(', '), 40),
        `${it.running}/${it.concurrency}`,
        out.time(it.startedAt),
        out.time(it.heartbeatAt),
      ])
      const head = ['NAME', 'STATE', 'HOST', 'PID', 'QUEUES', 'KINDS', 'BUSY', 'STARTED', 'LAST HEARD']
      out.table(head, rows, 'no workers; `spillway work MODULE` starts one')
    },
  )
}
