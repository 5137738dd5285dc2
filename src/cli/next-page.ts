import { sameCommand } from './same-command.js'

/** The command for the next page: the one that was typed, with the cursor in place. */
export function nextPageCommand(argv: readonly string[], cursor: string): string {
  return sameCommand(argv, { '--cursor': true }, '--cursor', cursor)
}
