import { createInterface } from 'node:readline/promises'
import { SpillwayError } from '../job/errors.js'
import type { Output } from './output.js'

/** Whether there is a person to ask. Elsewhere a line runs: it names what it is about. */
export function canAsk(out: Output): boolean {
  return process.stdin.isTTY === true && out.isTerminal && !out.isJson
}

/** Asks before something that cannot be undone. @throws `invalid_option` for everything but yes. */
export async function confirm(question: string): Promise<void> {
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  try {
    // A closed stdin is no yes, and neither is Ctrl-C, which rejects.
    const closed = new Promise<string>((resolve) => reader.once('close', () => resolve('')))
    const asked = reader.question(`${question} [y/N] `).catch(() => '')
    const answer = await Promise.race([asked, closed])
    if (/^y(es)?$/i.test(answer.trim())) return
  } finally {
    reader.close()
  }
  throw new SpillwayError('invalid_option', 'nothing was done: the answer was not yes; --yes does not ask')
}
