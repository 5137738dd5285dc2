/** Where a request came from and to, as far as it can be told. */
export interface Place {
  /** Of who asks, to slow down guessing. */
  readonly address: string
  /** The name it was asked under, with the port where that is not the usual one. */
  readonly host: string
  readonly isSecure: boolean
  /** Where the API is mounted; empty for the root. */
  readonly base: string
}

/**
 * @param trustProxy - Whether a proxy in front says who asks and how: `X-Forwarded-For` (its last entry, which the proxy
 *   has written), `X-Forwarded-Proto` and `X-Forwarded-Host`. Without it these headers are anybody's and mean nothing.
 */
export function placeOf(request: Request, url: URL, address: string, base: string, trustProxy: boolean): Place {
  const host = request.headers.get('host') ?? url.host
  const direct = { address, base, host: host.toLowerCase(), isSecure: url.protocol === 'https:' }
  if (!trustProxy) return direct
  const said = (name: string) =>
    request.headers
      .get(name)
      ?.split(',')
      .map((it) => it.trim().toLowerCase())
  return {
    base,
    address: said('x-forwarded-for')?.at(-1) || direct.address,
    host: said('x-forwarded-host')?.at(-1) || direct.host,
    isSecure: direct.isSecure || said('x-forwarded-proto')?.at(-1) === 'https',
  }
}
