/**
 * The lines of a stream of UTF-8, without their line feeds. Node's readline would also break at U+2028, which stands
 * unescaped inside JSON texts.
 */
export async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8')
  let parts: string[] = []
  for await (const chunk of stream) {
    const [first = '', ...more] = decoder.decode(chunk, { stream: true }).split('\n')
    parts.push(first)
    for (const text of more) {
      yield parts.join('')
      parts = [text]
    }
  }
  const rest = parts.join('') + decoder.decode()
  if (rest !== '') yield rest
}
