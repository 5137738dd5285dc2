import type { Command } from 'commander'
import { runs, subcommand } from '../command.js'
import { tellStory } from '../demo/story.js'

/** `spillway demo`: the product on real input, in under a minute. */
export function demoCommand(program: Command): void {
  runs(
    subcommand(program, 'demo', 'deliver real webhooks to a broken receiver, look at the dead, bring them back'),
    async ({ database, out }) => {
      const { url } = database()
      const isLive = process.stdout.isTTY === true
      const ok = await tellStory(url, {
        line: (text = '') => process.stdout.write(isLive ? `\r\x1b[K${text}\n` : `${text}\n`),
        progress: (text) => {
          if (isLive) process.stdout.write(`\r\x1b[K${text}`)
        },
      })
      if (!ok) {
        out.note('the demo did not end as it should')
        process.exitCode = 1
      }
    },
    { needsSchema: false, needs: 'database' },
  )
}
