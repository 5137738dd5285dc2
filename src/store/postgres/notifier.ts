import type { Notice } from '../store.js'
import type { Database } from './database.js'
import { channelOf, encodeNotice } from './notices.js'
import type { enqueueQueries } from './queries/enqueue.js'

const QUIET_MS = 5

/**
 * Tells workers of new jobs after their commit: at once, then at most once per queue, priority and 5 ms, with a
 * trailing one. NOTIFY holds a database-wide lock to commit, so it is never inside the transaction that enqueues.
 */
export class Notifier {
  private readonly channel: string
  private readonly pending = new Map<string, Notice>()
  private timer: NodeJS.Timeout | undefined
  private sending = false

  constructor(
    private readonly db: Database,
    schema: string,
    private readonly queries: ReturnType<typeof enqueueQueries>,
    /** Workers of this process hear of it without the way through the database. */
    private readonly local: (notice: Notice) => void,
  ) {
    this.channel = channelOf(schema)
  }

  /** Passes the notice on. Never fails: a lost notice costs one poll. */
  tell(notice: Notice): void {
    this.local(notice)
    const key = notice.type === 'ready' ? `${notice.priority}|${notice.queue}` : notice.type
    const before = this.pending.get(key)
    if (!before || isEarlier(notice, before)) this.pending.set(key, notice)
    if (!this.timer && !this.sending) this.send()
  }

  /** Sends what waits and stops the timer. */
  async close(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    if (this.pending.size > 0) await this.flush()
  }

  private send(): void {
    this.sending = true
    void this.flush().finally(() => {
      this.sending = false
      this.timer = setTimeout(() => {
        this.timer = undefined
        if (this.pending.size > 0) this.send()
      }, QUIET_MS)
      this.timer.unref()
    })
  }

  private async flush(): Promise<void> {
    const texts = [...this.pending.values()].map(encodeNotice)
    this.pending.clear()
    // Nothing is lost with a notice but time: workers poll.
    await this.db.run(this.queries.notifyNow, [this.channel, texts.join('\x1f')]).catch(() => undefined)
  }
}

function isEarlier(notice: Notice, before: Notice): boolean {
  if (notice.type === 'ready' && before.type === 'ready') return BigInt(notice.position) < BigInt(before.position)
  if (notice.type === 'due' && before.type === 'due') return notice.at < before.at
  return false
}
