import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Listening, Notice } from '../store.js'
import type { Database } from './database.js'
import { decodeNotice } from './notices.js'

const ECHO_MS = 2_000
/** Behind a pooler it looks again now and then: poolers get replaced too. */
const AGAIN_MS = 300_000
const RETRY_MS = [50, 100, 250, 500, 1_000, 2_000]
const PROBE_MS = 30_000

/**
 * One connection that listens, and comes back by itself.
 *
 * LISTEN is believed only after a notice of our own was heard that another connection sent: a transaction pooler accepts
 * LISTEN and delivers nothing but what comes with the answer to a statement. While it is not live, callers poll faster.
 */
export class Listener implements Listening {
  live = false
  private client: pg.Client | undefined
  private closed = false
  private failures = 0
  private wasTold = false
  private timer: NodeJS.Timeout | undefined

  constructor(
    private readonly db: Database,
    private readonly channel: string,
    private readonly onNotice: (notice: Notice) => void,
    private readonly onError: (error: Error) => void,
    /** Sends a notice from another connection. */
    private readonly send: (text: string) => Promise<unknown>,
  ) {}

  /** Connects; resolves when notices were heard or it is known that they are not. */
  async open(): Promise<void> {
    if (this.closed) return
    const client = await this.db.client()
    this.client = client
    try {
      client.on('error', (error: Error) => this.lost(client, error))
      client.on('end', () => this.lost(client))
      await client.connect()
      const echo = randomUUID()
      const heard = new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), ECHO_MS)
        timer.unref()
        client.on('notification', ({ payload = '' }) => {
          if (payload === `e|${echo}`) {
            clearTimeout(timer)
            resolve(true)
            return
          }
          const notice = decodeNotice(payload)
          if (notice) this.onNotice(notice)
        })
      })
      await client.query(`listen "${this.channel}"`)
      await this.send(`e|${echo}`)
      this.live = await heard
      if (!this.live) {
        await this.giveUp(client)
        return
      }
      this.failures = 0
      this.wasTold = false
      this.probe(client)
      // Notices of the time without a connection were missed.
      this.onNotice({ type: 'resync' })
    } catch (error) {
      this.lost(client, error as Error)
    }
  }

  async close(): Promise<void> {
    this.closed = true
    clearTimeout(this.timer)
    this.live = false
    // A connection that is already gone has nothing to say.
    await this.client?.end().catch(() => undefined)
  }

  /** Nothing was heard: callers poll. Said once, not with every new look. */
  private async giveUp(client: pg.Client): Promise<void> {
    if (this.client !== client) return
    this.client = undefined
    if (!this.wasTold) {
      this.wasTold = true
      this.onError(new Error('LISTEN hears nothing (is there a transaction pooler in front?): polling instead'))
    }
    this.timer = setTimeout(() => void this.open(), AGAIN_MS)
    this.timer.unref()
    // It is of no use any more, and may be gone already.
    await client.end().catch(() => undefined)
  }

  /** A half-open connection says nothing at all, so it is asked now and then. */
  private probe(client: pg.Client): void {
    this.timer = setTimeout(() => {
      client.query('select 1').then(
        () => {
          if (!this.closed && this.client === client) this.probe(client)
        },
        (error: Error) => this.lost(client, error),
      )
    }, PROBE_MS)
    this.timer.unref()
  }

  private lost(client: pg.Client, error?: Error): void {
    if (this.closed || this.client !== client) return
    this.client = undefined
    const wasLive = this.live
    this.live = false
    if (error && wasLive) this.onError(error)
    clearTimeout(this.timer)
    const waitMs = RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)] as number
    client.end().catch(() => undefined)
    this.timer = setTimeout(() => void this.open(), waitMs)
    this.timer.unref()
  }
}
