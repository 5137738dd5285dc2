import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { signal, type WaitOptions } from 'spillway/testing'
import { Framer, Statements, type WireMessage } from './wire.js'

/**
 * Where in the life of a statement its connection is cut:
 * - `before`: nothing of it reached the server, so it never ran;
 * - `mid`: half a message reached the server, so it never ran;
 * - `sent`: all of it did, and nobody waited: it may commit or not;
 * - `answered`: it committed, and the answer was withheld.
 */
export type CutAt = 'before' | 'mid' | 'sent' | 'answered'

export interface CutRule {
  readonly at: CutAt
  /** Which statements, by their text. */
  readonly statement: (text: string) => boolean
  /** How many matching statements pass before. Default: 0. */
  readonly skip?: number
  /** How many are cut; then the rule is used up. Default: 1. */
  readonly times?: number
}

export interface Cut {
  /** Resolves with the statement's text at the next cut nobody has waited for yet. */
  next(options?: WaitOptions): Promise<string>
  readonly count: number
  /** Takes the rule away. */
  lift(): void
}

/** A server in front of PostgreSQL that breaks connections at chosen moments. */
export interface DatabaseProxy {
  /** To connect with, in place of the server's own url. */
  readonly url: string
  /** Cuts connections from now on, as the rule says. */
  cut(rule: CutRule): Cut
  /** Drops all connections and takes none, until {@link DatabaseProxy.comeBack}: the database is away. */
  goAway(): void
  comeBack(): void
  /** Drops all connections; new ones are welcome. */
  dropAll(): void
  /** How many clients are connected. */
  readonly connections: number
  /** The texts of the statements that were forwarded, newest last, at most 1,000. */
  readonly seen: readonly string[]
  close(): Promise<void>
}

interface Rule extends CutRule {
  passed: number
  cuts: number
  readonly fired: ReturnType<typeof signal<string>>
}

/** Starts a proxy on a free port of 127.0.0.1. The server's connection must not be encrypted. */
export async function startProxy(serverUrl: string): Promise<DatabaseProxy> {
  const target = targetOf(serverUrl)
  const rules = new Set<Rule>()
  const links = new Set<Link>()
  const seen: string[] = []
  let away = false

  const server = createServer((client) => {
    if (away) {
      client.destroy()
      return
    }
    const link = new Link(client, connect(target), rules, (text) => {
      seen.push(text)
      if (seen.length > 1_000) seen.shift()
    })
    links.add(link)
    link.onEnd(() => links.delete(link))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  const dropAll = () => {
    for (const link of links) link.cut()
  }
  return {
    url: urlVia(serverUrl, (server.address() as AddressInfo).port),
    cut(rule) {
      const kept: Rule = { ...rule, passed: 0, cuts: 0, fired: signal<string>() }
      rules.add(kept)
      return {
        next: (options) => kept.fired.next({ what: 'the cut', ...options }),
        get count() {
          return kept.cuts
        },
        lift: () => void rules.delete(kept),
      }
    },
    goAway() {
      away = true
      dropAll()
    },
    comeBack() {
      away = false
    },
    dropAll,
    get connections() {
      return links.size
    },
    seen,
    close: () => closeServer(server, dropAll),
  }
}

/** One client and its connection to the server. */
class Link {
  private readonly asked = new Framer(true)
  private readonly answers = new Framer(false)
  private readonly statements = new Statements()
  /** What the client waits for: one entry for each answer that ends with ReadyForQuery, oldest first. */
  private readonly awaited: { rule: Rule | undefined; text: string }[] = [{ rule: undefined, text: '' }]
  /** The rule that the statement now being sent has met, and its text. */
  private met: Rule | undefined
  private metText = ''
  private isOver = false

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly rules: ReadonlySet<Rule>,
    private readonly onStatement: (text: string) => void,
  ) {
    client.setNoDelay(true)
    server.setNoDelay(true)
    client.on('data', (chunk: Buffer) => {
      for (const message of this.asked.push(chunk)) this.forward(message)
    })
    server.on('data', (chunk: Buffer) => {
      for (const message of this.answers.push(chunk)) this.answer(message)
    })
    // Either end may break at any time: that is what this is for.
    client.on('error', () => this.cut())
    server.on('error', () => this.cut())
    client.on('close', () => this.cut())
    server.on('close', () => this.cut())
  }

  onEnd(done: () => void): void {
    this.client.once('close', done)
  }

  cut(): void {
    this.isOver = true
    this.client.destroy()
    this.server.destroy()
  }

  private forward(message: WireMessage): void {
    if (this.isOver) return
    const { type, bytes } = message
    if (type === 'P' || type === 'B' || type === 'Q') this.ask(message)
    const rule = this.met
    const endsRequest = type === 'Q' || type === 'S'
    // The message that lets the statement run is the one that must not arrive whole.
    const runs = type === 'Q' || type === 'E'

    if (rule?.at === 'before') this.hit(rule)
    else if (rule?.at === 'mid' && runs) this.sendLast(bytes.subarray(0, Math.ceil(bytes.length / 2)), rule)
    else if (rule?.at === 'sent' && endsRequest) this.sendLast(bytes, rule)
    else {
      if (endsRequest) {
        this.awaited.push({ rule: rule?.at === 'answered' ? rule : undefined, text: this.metText })
        this.met = undefined
      }
      this.server.write(bytes)
    }
  }

  private sendLast(bytes: Buffer, rule: Rule): void {
    this.isOver = true
    this.server.write(bytes, () => this.hit(rule))
  }

  /** Notes a statement when its text is known, and which rule it meets. */
  private ask(message: WireMessage): void {
    const text = this.statements.of(message)
    // Parse and Bind of one statement count once: the Bind, or the text of a simple query.
    if (message.type === 'P') return
    this.onStatement(text)
    this.metText = text
    for (const rule of this.rules) {
      if (rule.cuts >= (rule.times ?? 1) || !rule.statement(text)) continue
      if (rule.passed++ < (rule.skip ?? 0)) continue
      rule.cuts += 1
      this.met = rule
      return
    }
  }

  private answer({ type, bytes }: WireMessage): void {
    if (this.isOver) return
    const { rule, text } = this.awaited[0] ?? { rule: undefined, text: '' }
    if (type === 'Z') this.awaited.shift()
    // Withheld from its first byte on: a client that saw half an answer would know something.
    if (!rule) this.client.write(bytes)
    else if (type === 'Z') this.hit(rule, text)
  }

  private hit(rule: Rule, text = this.metText): void {
    this.cut()
    rule.fired.fire(text)
  }
}

type Target = { path: string } | { host: string; port: number }

function targetOf(serverUrl: string): Target {
  const url = new URL(serverUrl)
  const host = url.searchParams.get('host') ?? url.hostname
  const port = Number(url.port || 5432)
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
}

function urlVia(serverUrl: string, port: number): string {
  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  url.searchParams.delete('host')
  return url.href
}

function closeServer(server: Server, dropAll: () => void): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    dropAll()
  })
}
