import type { Command } from 'commander'
import type { Access, AnswerNotice } from '../../http/index.js'
import { SpillwayError } from '../../job/errors.js'
import { collect, port } from '../arguments.js'
import { runs, subcommand } from '../command.js'
import type { Output } from '../output.js'
import { oneLine } from '../shown.js'
import { stopSignal } from '../stop-signal.js'

interface ServeFlags {
  readonly port?: number
  readonly host?: string
  readonly auth?: boolean
  readonly jwksUrl?: string
  readonly issuer?: string
  readonly audience?: string
  readonly readOnly?: boolean
  readonly trustProxy?: boolean
  readonly mask?: readonly string[]
  readonly maintenance: boolean
  readonly verbose?: boolean
}

const EXAMPLES = `
Examples:
  spillway serve                                    for this machine, open
  spillway tokens create ann --role operator       prints a token once
  spillway serve --host 0.0.0.0 --auth              for others, with tokens`

/** `spillway serve` */
export function serveCommand(program: Command): void {
  runs<ServeFlags>(
    subcommand(
      program,
      'serve',
      'show the console, answer the HTTP API, and take part in maintenance, until SIGINT or SIGTERM',
    )
      .option('--port <port>', 'default 8080; 0 is any free one', port)
      .option('--host <address>', 'default 127.0.0.1; any other address needs --auth or --jwks-url')
      .option('--auth', 'ask for tokens of `spillway tokens create`')
      .option('--jwks-url <url>', 'take JWTs too, signed with the keys published there; with --issuer and --audience')
      .option('--issuer <text>', 'what their iss has to be')
      .option('--audience <text>', 'what their aud has to be')
      .option('--read-only', 'refuse every change')
      .option(
        '--trust-proxy',
        'believe X-Forwarded-For, -Proto and -Host: only where nobody reaches it around the proxy',
      )
      .option('--mask <path>', 'hide this place of payloads, as card.number or **.ssn; may be given again', collect)
      .option('--no-maintenance', 'leave promoting, rescuing, retention and operations to the workers')
      .option('--verbose', 'a line for each answer, on stderr')
      .addHelpText('after', EXAMPLES),
    async ({ database, out, options, close }) => {
      const client = database().spillway
      const { port: wanted, host, readOnly, trustProxy, mask, verbose } = options
      const access = accessOf(options)
      const { listen } = await import('../../http/index.js')
      const server = await listen({
        ...{ spillway: client, access, readOnly, trustProxy, masks: mask, host },
        port: wanted ?? portOfEnvironment(),
        metrics: async () => (await client.metrics()).text(),
        onError: (error, requestId) => out.note(`request ${requestId}: ${messageOf(error)}`),
        ...(verbose === true ? { onAnswer: (answer) => out.note(lineOf(answer)) } : {}),
      })
      const duties = options.maintenance ? client.maintenance() : undefined
      const stopped = stopSignal(new Promise(() => undefined))
      await duties?.start()
      banner(out, server.url, access, readOnly === true)
      await stopped
      out.note('stopping: no more requests are taken')
      await server.stop()
      await duties?.stop()
      await close()
      process.exit(0)
    },
    { needs: 'database' },
  )
}

function accessOf({ auth, jwksUrl, issuer, audience }: ServeFlags): Access {
  if (jwksUrl === undefined) return auth === true ? { tokens: true } : 'open'
  if (issuer === undefined || audience === undefined) {
    throw new SpillwayError(
      'invalid_option',
      'cannot trust JWTs without knowing whose and for whom: --jwks-url needs --issuer and --audience',
    )
  }
  return { tokens: auth === true, jwks: { url: jwksUrl, issuer, audience } }
}

function banner(out: Output, url: string, access: Access, isReadOnly: boolean): void {
  if (out.isJson) {
    out.document({ url, authentication: access === 'open' ? 'none' : 'required', readOnly: isReadOnly })
    return
  }
  out.line(
    `the console is at ${url}, the API at ${url}/api/v1, its documents at ${url}/api/v1/docs${isReadOnly ? '; it changes nothing' : ''}`,
  )
  if (access !== 'open') return
  out.line('it is open: whoever can run programs on this machine may do anything with it; --auth asks for tokens')
}

function lineOf({ method, route, status, actor, durationMs, requestId }: AnswerNotice): string {
  return `${method} ${route} ${status} ${Math.round(durationMs)}ms ${oneLine(actor ?? '-', 40)} ${requestId}`
}

function messageOf(error: unknown): string {
  return oneLine(error instanceof Error ? error.message : String(error), 500)
}

function portOfEnvironment(): number | undefined {
  const text = process.env.PORT
  if (text === undefined || text === '') return undefined
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new SpillwayError(
    'invalid_option',
    `cannot listen on port ${oneLine(text, 40)} of PORT: 0 to 65535 is accepted, and --port goes before it`,
  )
}
