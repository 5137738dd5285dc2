/** One message of PostgreSQL's protocol, whole. */
export interface WireMessage {
  /** Its letter; '' for what opens a connection. */
  readonly type: string
  readonly bytes: Buffer
}

/** Cuts a stream of bytes into messages. */
export class Framer {
  private rest: Buffer = Buffer.alloc(0)

  /** @param opening - Whether the stream begins with a message without a letter, as a client's does. */
  constructor(private opening: boolean) {}

  /** The messages that `chunk` completes. */
  push(chunk: Buffer): WireMessage[] {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk])
    const messages: WireMessage[] = []
    for (;;) {
      const head = this.opening ? 0 : 1
      if (this.rest.length < head + 4) return messages
      const length = head + this.rest.readInt32BE(head)
      if (this.rest.length < length) return messages
      const bytes = this.rest.subarray(0, length)
      this.rest = this.rest.subarray(length)
      messages.push({ type: head === 0 ? '' : String.fromCharCode(bytes[0] as number), bytes })
      this.opening = false
    }
  }
}

/** The zero-terminated texts a message begins with. */
export function texts({ bytes }: WireMessage, count: number): string[] {
  const found: string[] = []
  for (let from = 5; found.length < count; ) {
    const end = bytes.indexOf(0, from)
    if (end < 0) break
    found.push(bytes.toString('utf8', from, end))
    from = end + 1
  }
  return found
}

/** Follows what a client asks, so that each of its messages is known by the statement it belongs to. */
export class Statements {
  private readonly prepared = new Map<string, string>()
  private current = ''

  /** The statement's text that this message of a client is about. */
  of(message: WireMessage): string {
    const [first = '', second = ''] = texts(message, 2)
    if (message.type === 'Q') this.current = first
    else if (message.type === 'P') {
      this.prepared.set(first, second)
      this.current = second
    } else if (message.type === 'B') this.current = this.prepared.get(second) ?? ''
    return this.current
  }
}
