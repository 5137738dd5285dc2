import type { LiveEvent } from './live.js'

const PING_MS = 15_000
/** A reader who is further behind is let go; it comes back and goes on from the last id it has. */
const MOST_WAITING = 1_000

/** Where events go out. */
export interface Outlet {
  tell(event: LiveEvent): void
  /** Ends the stream. */
  close(): void
  readonly isClosed: boolean
}

/**
 * Server-sent events until the reader goes, or one of `signals` aborts.
 *
 * @param begin - Begins to tell; what it returns ends it.
 */
export function eventStream(begin: (outlet: Outlet) => () => void, signals: readonly AbortSignal[]): Response {
  const encoder = new TextEncoder()
  let end: () => void = () => undefined
  let isClosed = false
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const close = () => {
          isClosed = true
          end()
          try {
            controller.close()
          } catch {
            // The reader has closed it already.
          }
        }
        const write = (text: string) => {
          if (isClosed) return
          if ((controller.desiredSize ?? 0) < -MOST_WAITING) close()
          else controller.enqueue(encoder.encode(text))
        }
        const ping = setInterval(() => write(': ping\n\n'), PING_MS)
        const stop = begin({
          tell: (event) => write(lineOf(event)),
          close,
          get isClosed() {
            return isClosed
          },
        })
        end = () => {
          end = () => undefined
          clearInterval(ping)
          for (const signal of signals) signal.removeEventListener('abort', close)
          stop()
        }
        for (const signal of signals) signal.addEventListener('abort', close, { once: true })
        write('retry: 3000\n\n')
        if (signals.some(({ aborted }) => aborted)) close()
      },
      cancel() {
        isClosed = true
        end()
      },
    },
    { highWaterMark: 1 },
  )
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  })
}

function lineOf({ type, id, data }: LiveEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${data}\n\n`
}
