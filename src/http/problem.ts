import { errorFields, wireJson } from '../client/wire.js'
import { ERRORS, type ErrorCode, isSpillwayError, SpillwayError } from '../job/errors.js'

/** A request that does not say what it has to; names every place. */
export class RequestRefusedError extends SpillwayError {
  constructor(
    code: ErrorCode,
    message: string,
    readonly errors: readonly { readonly path: string; readonly message: string }[],
  ) {
    super(code, message)
  }
}

/** A refusal that says more in headers, such as which methods a path has. */
export class RefusedWithHeaders extends SpillwayError {
  readonly #headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>>) {
    super(code, message)
    this.#headers = headers
  }

  headersOf(): Readonly<Record<string, string>> {
    return this.#headers
  }
}

const TITLES: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  423: 'Locked',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
}

/** What is answered about a fault of ours: the details are for the log, not for the caller. */
const INTERNAL = 'something broke on the server; its log has it under this request id'

/** An RFC 9457 problem document. Its `code` is stable; a conflict says the state or the holder that was found. */
export function problemOf(error: unknown, requestId: string): Response {
  const code = isSpillwayError(error) ? error.code : 'internal'
  const { status } = ERRORS[code]
  const isOurs = status === 500
  const document = {
    type: `urn:spillway:error:${code}`,
    title: TITLES[status] ?? 'Internal Server Error',
    status,
    code,
    detail: isOurs ? INTERNAL : (error as Error).message,
    instance: `urn:spillway:request:${requestId}`,
    ...(isOurs ? {} : errorFields(error as Error)),
  }
  return new Response(wireJson(document), {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(status === 503 ? { 'retry-after': '5' } : {}),
      ...(error instanceof RefusedWithHeaders ? error.headersOf() : {}),
    },
  })
}
