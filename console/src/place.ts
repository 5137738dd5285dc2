/** Where the console lies, with a slash at its end: the server says so in the page's <base>. */
export const place = new URL('./', document.baseURI)

/** For styles that a library makes while the page runs; the page's policy lets in no others. */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''

/** The address of something of the server's, such as `api/v1/dlq`. */
export function addressOf(path: string): string {
  return new URL(path, place).href
}
