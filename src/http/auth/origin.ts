import { SpillwayError } from '../../job/errors.js'
import type { Place } from './place.js'

const OWN_HOSTS = new Set(['127.0.0.1', 'localhost', '[::1]'])

/**
 * Keeps pages of other origins out of a server that is open on the loopback interface: a browser says where a request
 * comes from, and under which name it knows the server. Another name than a loopback one is a rebound DNS entry.
 *
 * @throws `cross_origin`
 */
export function checkOrigin(request: Request, url: URL): void {
  const host = checkHost(request, url)
  const origin = request.headers.get('origin')
  if (origin !== null && origin.toLowerCase() !== `http://${host}`) {
    throw refused(`to a page of ${JSON.stringify(origin.slice(0, 100))}`, 'only its own pages may ask')
  }
  const site = request.headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none') {
    throw refused(`to a page of another site (${site.slice(0, 20)})`, 'only its own pages may ask')
  }
}

/**
 * Keeps pages of other origins from acting as somebody whose browser is known here. A browser says where a request comes
 * from, and no page can make it say something else.
 *
 * @param isSure - Whether it has to be said; else only what is said and wrong is refused.
 * @throws `cross_origin`
 */
export function checkOwnPage(request: Request, { host }: Place, isSure: boolean): void {
  const site = request.headers.get('sec-fetch-site')
  const origin = request.headers.get('origin')
  const isOwn =
    site !== null ? site === 'same-origin' || (site === 'none' && !isSure) : isOriginOf(origin, host, isSure)
  if (isOwn) return
  throw new SpillwayError(
    'cross_origin',
    `cannot do this for a page of ${JSON.stringify((origin ?? site ?? 'an unknown origin').slice(0, 100))}: only pages of ${host.slice(0, 100)} may, unless they send a token in the header Authorization`,
  )
}

function isOriginOf(origin: string | null, host: string, isSure: boolean): boolean {
  if (origin === null) return !isSure
  // Where TLS ends before us the scheme is not known here; pages of another one are another site to the cookie.
  return URL.canParse(origin) && new URL(origin).host === host
}

/** The name it was asked under. @throws `cross_origin` where that is none of its own. */
export function checkHost(request: Request, url: URL): string {
  const host = (request.headers.get('host') ?? url.host).toLowerCase()
  const name = host.replace(/:\d{1,5}$/, '')
  if (OWN_HOSTS.has(name)) return host
  throw refused(`as ${JSON.stringify(host.slice(0, 100))}`, 'it answers only as 127.0.0.1, localhost and [::1]')
}

function refused(what: string, why: string): SpillwayError {
  return new SpillwayError(
    'cross_origin',
    `this server is open to this machine and does not answer ${what}: ${why}; with tokens (--auth) it does`,
  )
}
