import { type LookupAddress, lookup } from 'node:dns'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from '../job/public-address.js'

export interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** For all of it: looking the name up, connecting, and the answer. */
  readonly timeoutMs: number
  /** Whether addresses that are not of the public internet may be reached. */
  readonly allowPrivate: boolean
  readonly signal?: AbortSignal
  /** How a name is looked up. Default: the system's way. */
  readonly resolve?: Resolve
}

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

/** More of an answer is not read: only its status counts. */
const MAX_ANSWER_BYTES = 64 * 1024

/**
 * Sends one request and gives the status of the answer. Follows no redirect and uses no proxy. The address that was
 * checked is the one that is connected to, so a name that answers differently the next time gains nothing.
 *
 * Rejects where no status came in time, where the address is not allowed, and when `signal` fires.
 */
export async function post(options: Post): Promise<number> {
  const url = new URL(options.url)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error(`${url.protocol} is not sent to`)
  const deadline = AbortSignal.timeout(options.timeoutMs)
  const signal = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline
  try {
    const address = await untilAborted(allowedAddress(url, options), signal)
    return await send(url, address, options, signal)
  } catch (error) {
    if (deadline.aborted) throw new Error(`no answer within ${options.timeoutMs} ms`)
    throw error
  }
}

/** The address of the url's host, checked. One that is not allowed among several refuses them all. */
async function allowedAddress(url: URL, { allowPrivate, resolve = systemLookup }: Post): Promise<LookupAddress> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  // Node.js connects to a literal without looking it up, so it is checked here, where names are.
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }]
  const refused = allowPrivate ? undefined : addresses.find(({ address }) => !isPublicAddress(address))
  if (refused) throw new Error(`${host} is at ${refused.address}, which is no public address`)
  const [first] = addresses
  if (!first) throw new Error(`${host} has no address`)
  return first
}

function send(url: URL, address: LookupAddress, options: Post, signal: AbortSignal): Promise<number> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  const pinned: LookupFunction = (_host, { all }, done) => {
    if (all) done(null, [address])
    else done(null, address.address, address.family)
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: 'POST',
      headers: { ...options.headers, 'content-length': Buffer.byteLength(options.body), connection: 'close' },
      lookup: pinned,
      agent: false,
      signal,
    })
    let status: number | undefined
    // The status is the answer: a body that never ends, or is cut off, changes nothing about it.
    sent.on('error', (error) => (status === undefined ? reject(error) : resolve(status)))
    sent.on('response', (answer) => {
      const { statusCode = 0 } = answer
      status = statusCode
      let bytes = 0
      const done = () => {
        resolve(statusCode)
        sent.destroy()
      }
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > MAX_ANSWER_BYTES) done()
      })
      answer.on('end', done)
      answer.on('error', done)
      answer.on('close', done)
    })
    sent.end(options.body)
  })
}

const systemLookup: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    lookup(hostname, { all: true, verbatim: true }, (error, addresses) => {
      if (error) reject(new Error(`cannot look up ${hostname}: ${error.code ?? error.message}`))
      else resolve(addresses)
    })
  })

/** A lookup cannot be called off; its answer is not waited for any longer. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
