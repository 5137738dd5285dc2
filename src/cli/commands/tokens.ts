import { type Command, InvalidArgumentError } from 'commander'
import { isRight, isRole, RIGHTS, type Right, ROLES, type Role } from '../../job/rights.js'
import { collect, duration, whole } from '../arguments.js'
import { group, runs, subcommand } from '../command.js'
import { nextPageCommand } from '../next-page.js'
import { oneLine } from '../shown.js'

interface CreateFlags {
  readonly role?: Role
  readonly right?: readonly Right[]
  readonly queue?: readonly string[]
  readonly expiresIn?: number
  readonly reason?: string
}

/** `spillway tokens …` */
export function tokensCommand(program: Command): void {
  const tokens = group(program, 'tokens', 'who may use the HTTP API')

  runs<CreateFlags>(
    subcommand(tokens, 'create <name>', 'make a token; it is shown once and stored nowhere')
      .option('--role <role>', `${Object.keys(ROLES).join(', ')} (default: viewer, where no right is named)`, role)
      .option('--right <right>', `besides those of the role, may be given again: ${RIGHTS.join(', ')}`, rights)
      .option('--queue <queue>', 'the only queue it reaches; may be given again (default: all)', collect)
      .option('--expires-in <duration>', 'how long it is valid (default: 90d)', duration)
      .option('--reason <text>', 'what it is for; kept in the audit log')
      .addHelpText('after', '\nExample:\n  spillway tokens create ci --right enqueue --queue builds --expires-in 30d'),
    async ({ client, out, options }, name) => {
      const { role, right, queue, expiresIn, reason } = options
      const made = await client.tokens.create({ name: name!, role, rights: right, queues: queue, expiresIn, reason })
      if (out.isJson) return out.document(made)
      out.line(made.secret)
      out.note(`token ${made.id} is valid until ${made.expiresAt.toISOString()}; it is not shown again`)
    },
  )

  runs<{ limit?: number; cursor?: string }>(
    subcommand(tokens, 'list', 'list the tokens, newest first')
      .option('--limit <rows>', 'rows of a page, up to 1000 (default: 50)', whole)
      .option('--cursor <cursor>', 'go on where the last page ended'),
    async ({ client, out, options }) => {
      const page = await client.tokens.list({ limit: options.limit, cursor: options.cursor })
      if (out.isJson) return out.document(page)
      const now = Date.now()
      const rows = page.items.map((it) => [
        it.id,
        oneLine(it.name, 30),
        it.revokedAt !== null ? out.colors.red('revoked') : it.expiresAt.getTime() <= now ? 'expired' : 'valid',
        it.rights.length === RIGHTS.length ? 'admin' : it.rights.join(' '),
        oneLine(it.queues?.join(', ') ?? 'all', 40),
        out.time(it.expiresAt),
        out.time(it.lastUsedAt),
        oneLine(it.createdBy, 30),
      ])
      out.table(['ID', 'NAME', '', 'RIGHTS', 'QUEUES', 'EXPIRES', 'USED', 'BY'], rows, 'no tokens')
      if (page.cursor !== null) out.line(`\nnext page: ${nextPageCommand(process.argv.slice(2), page.cursor)}`)
    },
  )

  runs<{ reason?: string }>(
    subcommand(tokens, 'revoke <id>', 'end a token, from the next request on').option(
      '--reason <text>',
      'why; kept in the audit log',
    ),
    async ({ client, out, options }, id) => {
      const ended = await client.tokens.revoke(id!, { reason: options.reason })
      if (out.isJson) return out.document(ended)
      out.line(`token ${ended.id} (${oneLine(ended.name, 40)}) is revoked`)
    },
  )
}

function role(text: string): Role {
  if (isRole(text)) return text
  throw new InvalidArgumentError(`Accepted are ${Object.keys(ROLES).join(', ')}.`)
}

function rights(text: string, before: readonly Right[] | undefined): readonly Right[] {
  if (isRight(text)) return [...(before ?? []), text]
  throw new InvalidArgumentError(`Accepted are ${RIGHTS.join(', ')}.`)
}
