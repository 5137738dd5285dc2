import type { Page, Request } from 'playwright-core'

/** Changes nothing, or is no change of a queue: it needs no key. */
const KEYLESS = /\/api\/v1\/(session|undecodable\/check)$/

/**
 * Watches the idempotency keys of what a page sends: each change has one, no other request has the same, and what no answer
 * came to is sent again with its own.
 */
export function watchChanges(page: Page, complain: (text: string) => void): void {
  const requestOf = new Map<string, string>()
  const unanswered = new Map<string, string>()
  const told = (request: Request) => {
    const key = request.headers()['idempotency-key']
    return { key, line: `${request.method()} ${new URL(request.url()).pathname}`, body: request.postData() ?? '' }
  }
  const isChange = (request: Request) =>
    request.method() !== 'GET' &&
    !KEYLESS.test(new URL(request.url()).pathname) &&
    !/"dry_run": ?true/.test(request.postData() ?? '')
  page.on('request', (request) => {
    if (!isChange(request)) return
    const { key, line, body } = told(request)
    if (key === undefined) return complain(`${line} was sent without an idempotency key`)
    // An edit and the retry that follows it share one, each on its own route.
    const before = requestOf.get(`${key} ${line}`)
    if (before !== undefined && before !== body) complain(`${line} has the key of another request: ${before}, ${body}`)
    requestOf.set(`${key} ${line}`, body)
    const lost = unanswered.get(`${line} ${body}`)
    if (lost !== undefined && lost !== key) complain(`${line} was sent again with another key, and may be done twice`)
  })
  page.on('requestfailed', (request) => {
    if (!isChange(request)) return
    const { key, line, body } = told(request)
    if (key !== undefined) unanswered.set(`${line} ${body}`, key)
  })
}
