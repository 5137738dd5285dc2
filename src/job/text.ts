/** What a text column of the store cannot hold: U+0000, and surrogates without their other half. */
const UNSTORABLE = /\0|\p{Surrogate}/u
const UNSTORABLE_ALL = /\0|\p{Surrogate}/gu

/** Whether every store can keep `text` unchanged: no U+0000 and no lone surrogate. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text)
}

/** `text` with U+0000 shown as ␀ and each lone surrogate as U+FFFD; complete pairs and emoji stay byte for byte. */
export function storable(text: string): string {
  return UNSTORABLE.test(text) ? text.replace(UNSTORABLE_ALL, (char) => (char === '\0' ? '\u2400' : '\ufffd')) : text
}

/** JSON.stringify escapes U+0000 and lone surrogates; an escaped backslash before a `u` is only text. */
const ESCAPED = /\\u(?:0000|d[89a-f])/
const ESCAPED_ALL = /\\\\|\\u0000|\\ud[89a-f][0-9a-f]{2}/g

/** The same for a text that JSON.stringify wrote, in its keys and its values; what only spells an escape stays. */
export function storableJson(json: string): string {
  if (!ESCAPED.test(json)) return json
  return json.replace(ESCAPED_ALL, (found) => {
    if (found === '\\\\') return found
    return found === '\\u0000' ? '\u2400' : '\ufffd'
  })
}

/** The longest beginning of `text` that has at most `maxBytes` bytes in UTF-8; never ends in half a character. */
export function clipBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  const clipped = text.length > maxBytes ? text.slice(0, maxBytes) : text
  if (Buffer.byteLength(clipped) <= maxBytes) return clipped

  const bytes = Buffer.from(clipped)
  let end = maxBytes
  // 10xxxxxx continues a character: step back to where one begins.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}
