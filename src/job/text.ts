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
