import { CommanderError } from 'commander'
import { errorFields } from '../client/wire.js'
import { ERRORS, isSpillwayError } from '../job/errors.js'

/** What a failed run leaves behind: its exit code, one line for people, one document for programs. */
export interface Failure {
  /** 1 error, 2 usage, 3 not found, 4 conflict or refused, 5 store unreachable. */
  readonly exit: number
  readonly line: string
  readonly document: { readonly error: Readonly<Record<string, unknown>> }
}

/** Sorts what a command threw. Every number comes from the catalogue of errors. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CommanderError) return failure('usage', 2, usageMessage(error), {})
  const message = error instanceof Error ? error.message : String(error)
  const code = codeOf(error)
  if (code === undefined) return failure('internal', ERRORS.internal.exit, message, {})
  return failure(code, ERRORS[code].exit, message, errorFields(error as Error))
}

function failure(code: string, exit: number, message: string, fields: object): Failure {
  const line = message.replace(/\s+/g, ' ').trim()
  return { exit, line: `spillway: ${line}`, document: { error: { code, message: line, ...fields } } }
}

/** Errors of the embedded launcher are no SpillwayErrors, but their codes stand in the same catalogue. */
function codeOf(error: unknown): keyof typeof ERRORS | undefined {
  return isSpillwayError(error) ? error.code : undefined
}

function usageMessage(error: CommanderError): string {
  const said = error.message.replace(/^error: /, '')
  return said === '(outputHelp)' ? 'a command is missing; --help lists them' : `${said}; --help shows what is accepted`
}
