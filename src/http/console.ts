import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { checkHost } from './auth/origin.js'

/** What is there in the built page for us to fill in. */
const BASE = '<base href="/">'
const NONCE = '<meta name="style-nonce" content="">'

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  html: 'text/html; charset=utf-8',
}

interface Packed {
  readonly plain: Uint8Array<ArrayBuffer>
  readonly zipped: Uint8Array<ArrayBuffer>
  readonly etag: string
}

/**
 * The files of the web console. They hold no data: whatever the page shows it asks of the API, as whoever looks at it.
 * So they are open to everybody who reaches the server, also by a link on another site.
 */
export class Console {
  private readonly files: ReadonlySet<string>
  private readonly page: string
  private readonly packed = new Map<string, Promise<Packed>>()

  private constructor(private readonly folder: string) {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((it) => it.replaceAll('\\', '/'))
    this.files = new Set(names.filter((it) => it !== 'index.html' && extensionOf(it) in TYPES))
    this.page = readFileSync(`${folder}/index.html`, 'utf8')
    for (const part of [BASE, NONCE]) {
      if (!this.page.includes(part)) throw new Error(`${folder}/index.html lacks ${part}: build the console again`)
    }
  }

  /** The built console; undefined where this package was built without it. */
  static built(): Console | undefined {
    // Beside us in dist/, and where the sources run, in the dist/ beside them.
    const folders = ['../console', '../../dist/console'].map((it) => fileURLToPath(new URL(it, import.meta.url)))
    const folder = folders.find((it) => existsSync(`${it}/index.html`))
    return folder === undefined ? undefined : new Console(folder)
  }

  /**
   * A file, or the page itself for whoever wants to see a page; undefined for paths that are none of its business.
   *
   * @param path - Inside the place it is mounted at.
   * @param isOpen - Whether the server is open on this machine, and then only answers under its own names.
   */
  async answer(request: Request, url: URL, path: string, isOpen: boolean): Promise<Response | undefined> {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    if (isOpen) checkHost(request, url)
    const name = path.slice(1)
    if (this.files.has(name)) return this.file(request, name)
    if (path.startsWith('/assets/')) return undefined
    const wantsPage = path === '/' || (request.headers.get('accept') ?? '').includes('text/html')
    if (!wantsPage) return undefined
    // Without its slash the place would be taken for a file of the folder above.
    if (path === '/' && !url.pathname.endsWith('/')) return movedTo(`${url.pathname}/${url.search}`)
    return this.index(path)
  }

  private async file(request: Request, name: string): Promise<Response> {
    const { plain, zipped, etag } = await this.contentOf(name)
    const headers = {
      'content-type': TYPES[extensionOf(name)] as string,
      // The name of what is built changes with what is in it.
      'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'accept-encoding',
      etag,
    }
    if (isKnown(request.headers.get('if-none-match') ?? '', etag)) return new Response(null, { status: 304, headers })
    const takesZipped = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(request.headers.get('accept-encoding') ?? '')
    return takesZipped
      ? new Response(zipped, { headers: { ...headers, 'content-encoding': 'gzip' } })
      : new Response(plain, { headers })
  }

  /**
   * Where the page lies is said relative to the path that was asked for, so that it is right behind a proxy that cuts a
   * part off, too, and nothing of the path gets into the page.
   */
  private index(path: string): Response {
    const nonce = randomBytes(16).toString('base64url')
    const up = '../'.repeat(path.split('/').length - 2)
    const page = this.page
      .replace(BASE, `<base href="${up || './'}">`)
      .replace(NONCE, `<meta name="style-nonce" content="${nonce}">`)
    return new Response(page, {
      headers: { 'content-type': TYPES['html'] as string, 'content-security-policy': policyOf(nonce) },
    })
  }

  private contentOf(name: string): Promise<Packed> {
    const known = this.packed.get(name)
    if (known !== undefined) return known
    const packing = packed(`${this.folder}/${name}`)
    this.packed.set(name, packing)
    // What could not be read is tried again.
    packing.catch(() => this.packed.delete(name))
    return packing
  }
}

/** Nothing but our own files; styles that a library makes while it runs carry the nonce of their page. */
function policyOf(nonce: string): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

async function packed(file: string): Promise<Packed> {
  const plain = new Uint8Array(await readFile(file))
  const zipped = new Uint8Array(await promisify(gzip)(plain))
  return { plain, zipped, etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"` }
}

/** Whether a reader has it already, as one of those it names. Proxies mark what they have zipped as weak. */
function isKnown(named: string, etag: string): boolean {
  return named.split(',').some((it) => it.trim().replace(/^W\//, '') === etag)
}

function movedTo(location: string): Response {
  return new Response(null, { status: 308, headers: { location } })
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}
