import { createHash } from 'node:crypto'
import { ROUTES } from './contract.js'
import { errorsByStatus, rightName } from './openapi.js'
import { isMutation, type Route } from './route.js'

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1f;background:#fff}
code{font:14px/1.4 ui-monospace,monospace}h2{margin-top:2.5rem}section{border-top:1px solid #ddd;padding:.6rem 0}
h3{font-size:1rem;margin:.2rem 0}p{margin:.2rem 0}small{color:#555}
@media (prefers-color-scheme:dark){body{color:#e8e8ea;background:#17171a}section{border-color:#3a3a40}small{color:#aaa}a{color:#9cc2ff}}`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** Every route on one page, without a script and without anything from elsewhere. */
export function docsPage(version: string, basePath: string): Response {
  const tags = [...new Set(ROUTES.map(([, { tag }]) => tag))]
  const parts = tags.map((tag) => {
    const sections = ROUTES.filter(([, route]) => route.tag === tag).map(([, route]) => sectionOf(route))
    return `<h2>${escaped(tag)}</h2>${sections.join('')}`
  })
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Spillway API</title>
<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head><body>
<h1>Spillway API</h1><p>Version ${escaped(version)}. Every path is under <code>${escaped(basePath)}/api/v1</code>; the whole contract with all
schemas is <a href="${escaped(basePath)}/api/v1/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>${parts.join('')}</body></html>`
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
    },
  })
}

function sectionOf(route: Route): string {
  const query = route.query === undefined ? [] : Object.keys(route.query.shape)
  const key =
    route.keyRequired === true ? 'Idempotency-Key required. ' : isMutation(route) ? 'Idempotency-Key accepted. ' : ''
  const errors = errorsByStatus(route).flatMap(([status, codes]) => codes.map((code) => `${status} ${code}`))
  return `<section><h3><code>${route.method} ${escaped(route.path)}</code></h3><p>${escaped(route.summary)}</p>
<p><small>${query.length > 0 ? `Parameters: <code>${escaped(query.join(', '))}</code>. ` : ''}${key}${
    route.right === 'none' ? '' : `Right: ${escaped(rightName(route).replaceAll('`', ''))}. `
  }Refusals: ${escaped(errors.join(', '))}.</small></p></section>`
}

function escaped(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replace(/[&<>"']/g, (char) => names[char] ?? '')
}
