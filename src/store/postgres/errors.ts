import { SpillwayError } from '../../job/errors.js'

/** What a driver error means to a caller. Decided here and nowhere else. */
export type Fault =
  /** Rolled back because of another transaction: repeat it. */
  | 'conflict'
  /** The connection or the server is gone; the outcome is unknown. */
  | 'unavailable'
  /** The day's partition is not there yet. */
  | 'partition'
  /** A unique key is taken. */
  | 'unique'
  /** The statement is wrong, the data is refused, the right is missing: repeating it cannot help. */
  | 'final'

const CONFLICT = new Set(['40001', '40P01', '55P03'])
const UNAVAILABLE = new Set(['57P01', '57P02', '57P03', '57P05', '53300', '53400', '25006', '53100', '53200', '58030'])
const SOCKET = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
])
const LOST =
  /connection terminated|client was closed|connection ended|timeout exceeded when trying to connect|not queryable/i

interface DriverError extends Error {
  readonly code?: string
  readonly constraint?: string
}

/** Sorts a driver error. */
export function faultOf(error: unknown): Fault {
  if (!(error instanceof Error)) return 'final'
  const { code, message, constraint } = error as DriverError
  if (code !== undefined) {
    if (CONFLICT.has(code)) return 'conflict'
    // A protocol violation is a fault of ours, not of the connection.
    if (code === '08P01') return 'final'
    if (UNAVAILABLE.has(code) || SOCKET.has(code) || code.startsWith('08')) return 'unavailable'
    if (code === '23505') return 'unique'
    if (code === '23514' && constraint === undefined && message.startsWith('no partition of relation'))
      return 'partition'
    return 'final'
  }
  if (error instanceof AggregateError) return error.errors.length > 0 ? faultOf(error.errors[0]) : 'unavailable'
  return LOST.test(message) ? 'unavailable' : 'final'
}

/** A wrong password, a role that may not come in, a database that is not there: waiting does not help. */
const NOT_LET_IN = new Set(['28P01', '28000', '3D000'])
const URL_SHAPE = /^(postgres(ql)?:\/\/|socket:|\/)/i

/** @throws `invalid_option` for what the driver would take for the name of a host. Says nothing of what may be a password. */
export function checkUrl(url: string): string {
  if (URL_SHAPE.test(url)) return url
  throw noUrl()
}

function noUrl(options?: ErrorOptions): SpillwayError {
  return new SpillwayError(
    'invalid_option',
    'cannot use the url of the database: one as postgres://user:password@host:5432/database is accepted, with special characters as %40',
    options,
  )
}

/** Makes a driver error ours, keeping it as `cause`. */
export function translate(error: unknown): SpillwayError {
  if (error instanceof SpillwayError) return error
  const { code, message } = error as DriverError
  const said = error instanceof AggregateError ? String(error.errors[0]?.message ?? message) : message
  const cause = { cause: error }
  if (code === 'ERR_INVALID_URL') return noUrl(cause)
  if (faultOf(error) === 'unavailable' || NOT_LET_IN.has(code ?? '')) {
    return new SpillwayError(
      'store_unavailable',
      `cannot reach PostgreSQL: ${said || code}; check that it runs and that the url is right`,
      cause,
    )
  }
  if (code === '42P01' || code === '3F000') {
    return new SpillwayError(
      'schema_missing',
      `the schema is missing or older than this program: ${said}; run \`spillway migrate\``,
      cause,
    )
  }
  if (code === '22021') {
    return new SpillwayError('invalid_option', 'cannot use a text that holds U+0000: PostgreSQL cannot store it', cause)
  }
  if (code === '42501') {
    return new SpillwayError('store_forbidden', `the database role lacks a right: ${said}`, cause)
  }
  return new SpillwayError('internal', `PostgreSQL refused a statement${code ? ` (${code})` : ''}: ${said}`, cause)
}
