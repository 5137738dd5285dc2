import type { Archive } from '../../client/archive.js'
import { BulkActs } from '../../client/bulk-acts.js'
import type { Callbacks } from '../../client/callbacks.js'
import { Client } from '../../client/client.js'
import { DeadLetters } from '../../client/dead-letters.js'
import type { Events } from '../../client/events.js'
import type { ImportedLine, ImportOptions, ImportReport } from '../../client/import.js'
import type { Jobs } from '../../client/jobs.js'
import { type MadeToken, type TokenOptions, Tokens } from '../../client/tokens.js'
import type { Undecodable } from '../../client/undecodable.js'
import type { Webhooks } from '../../client/webhooks.js'
import { toWire } from '../../client/wire.js'
import { type ApiClient, type ApiClientOptions, createApiClient } from '../../http/index.js'
import { MAX_PAYLOAD_BYTES } from '../../job/payload.js'
import type { DlqFilter } from '../../store/store.js'
import { linesOf } from '../lines.js'
import { fromWire } from './from-wire.js'
import { RemoteArchive } from './remote-archive.js'
import { RemoteJobs } from './remote-jobs.js'
import { RemoteCallbacks, RemoteEvents, RemoteWebhooks } from './remote-notices.js'
import { remoteStore } from './remote-store.js'
import { RemoteUndecodable } from './remote-undecodable.js'

const BATCH_CHARS = 4 * 1024 * 1024

/** The client of a server: the same calls as on a store, over HTTP. */
export class RemoteClient extends Client {
  override readonly jobs: Jobs
  override readonly dlq: DeadLetters
  override readonly archive: Archive
  override readonly tokens: Tokens
  override readonly events: Events
  override readonly callbacks: Callbacks
  override readonly webhooks: Webhooks
  override readonly undecodable: Undecodable

  constructor(options: ApiClientOptions) {
    const api = createApiClient(options)
    const store = remoteStore(api)
    super({ store })
    const bulk = new BulkActs(store, 'cli', MAX_PAYLOAD_BYTES, this.operations)
    this.jobs = new RemoteJobs(api, store, 'cli', MAX_PAYLOAD_BYTES, bulk)
    this.dlq = new RemoteDeadLetters(api, store, 'cli', MAX_PAYLOAD_BYTES, this.operations)
    this.archive = new RemoteArchive(api, store)
    this.tokens = new RemoteTokens(api, store)
    this.events = new RemoteEvents(api, store)
    this.callbacks = new RemoteCallbacks(api, store)
    this.webhooks = new RemoteWebhooks(api, store)
    this.undecodable = new RemoteUndecodable(api, store)
  }
}

class RemoteTokens extends Tokens {
  constructor(
    private readonly api: ApiClient,
    store: ConstructorParameters<typeof Tokens>[0],
  ) {
    super(store, 'cli')
  }

  override async create({ name, role, rights, queues, expiresIn, reason }: TokenOptions): Promise<MadeToken> {
    const given = { role, rights: rights && [...rights], queues: queues && [...queues], expires_in: expiresIn, reason }
    const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    return fromWire(await this.api.createToken({ body: { name, ...named } }))
  }
}

class RemoteDeadLetters extends DeadLetters {
  constructor(
    private readonly api: ApiClient,
    ...rest: ConstructorParameters<typeof DeadLetters>
  ) {
    super(...rest)
  }

  override export(filter: DlqFilter = {}): AsyncIterable<string> {
    return exported(this.api, filter)
  }

  override async import(
    lines: AsyncIterable<string> | Iterable<string>,
    { reason, onLine }: ImportOptions = {},
  ): Promise<ImportReport> {
    const refused: (ImportedLine & { imported: false })[] = []
    let imported = 0
    let batch: string[] = []
    let chars = 0
    let sent = 0
    const send = async () => {
      const query = reason === undefined ? {} : { reason }
      const answer = await this.api.importDlq({ query, body: batch.join('\n') })
      const report = fromWire<{ imported: number; refused: (ImportedLine & { imported: false })[] }>(answer)
      imported += report.imported
      // Lines are numbered in each batch from 1.
      for (const it of report.refused) {
        const line = it.line + sent
        const there = { ...it, line, message: it.message.replace(/^line \d+/, `line ${line}`) }
        refused.push(there)
        onLine?.(there)
      }
      sent += batch.length
      batch = []
      chars = 0
    }
    for await (const line of lines) {
      batch.push(line)
      chars += line.length
      if (chars >= BATCH_CHARS) await send()
    }
    if (batch.length > 0) await send()
    return { imported, refused }
  }
}

async function* exported(api: ApiClient, filter: DlqFilter): AsyncGenerator<string> {
  const response = await api.exportDlq({ body: toWire(filter) as object })
  if (response.body === null) return
  for await (const line of linesOf(response.body as unknown as AsyncIterable<Uint8Array>)) if (line !== '') yield line
}
