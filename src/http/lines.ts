import type { Call } from './call.js'

/** Lines of an export as NDJSON, masked one by one; pulled as fast as the caller reads. */
export function streamedLines(call: Call, lines: AsyncIterable<string>): Response {
  const encoder = new TextEncoder()
  const iterator = lines[Symbol.asyncIterator]()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done === true || call.signal.aborted) controller.close()
      else controller.enqueue(encoder.encode(`${call.views.line(value)}\n`))
    },
    async cancel() {
      await iterator.return?.()
    },
  })
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } })
}
