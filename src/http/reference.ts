import { z } from 'zod'
import { ROUTES } from './contract.js'
import { errorsByStatus, rightName } from './openapi.js'
import { isMutation, type Route } from './route.js'

/** Every route as Markdown, for docs/reference/http.md. */
export function renderRoutes(): string {
  const tags = [...new Set(ROUTES.map(([, { tag }]) => tag))]
  return tags
    .flatMap((tag) => [
      `### ${tag[0]?.toUpperCase()}${tag.slice(1)}`,
      '',
      '| Method and path | Does | Takes | Right |',
      '|---|---|---|---|',
      ...ROUTES.filter(([, route]) => route.tag === tag).map(([, route]) => rowOf(route)),
      '',
    ])
    .join('\n')
}

/** Which refusals each status stands for, as Markdown. */
export function renderRefusals(): string {
  const byStatus = new Map<string, Set<string>>()
  for (const [, route] of ROUTES) {
    for (const [status, codes] of errorsByStatus(route)) {
      const found = byStatus.get(status) ?? new Set()
      for (const code of codes) found.add(code)
      byStatus.set(status, found)
    }
  }
  for (const [status, code] of [
    ['404', 'route_not_found'],
    ['405', 'method_not_allowed'],
  ] as const) {
    byStatus.set(status, new Set([...(byStatus.get(status) ?? []), code]))
  }
  const rows = [...byStatus]
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(
      ([status, codes]) =>
        `| ${status} | ${[...codes]
          .sort()
          .map((code) => `\`${code}\``)
          .join(', ')} |`,
    )
  return ['| Status | Codes |', '|---|---|', ...rows, ''].join('\n')
}

function rowOf(route: Route): string {
  const query = route.query === undefined ? [] : Object.keys(route.query.shape).map((key) => `\`?${key}\``)
  const body = bodyKeys(route).map((key) => `\`${key}\``)
  const key = route.keyRequired === true ? ['Idempotency-Key (required)'] : []
  const right = route.right === 'by_action' ? 'of its action' : route.right === 'none' ? '' : rightName(route)
  const takes = [...query, ...body, ...(route.bodyType === 'lines' ? ['NDJSON'] : []), ...key].join(' ')
  const summary = route.summary.replaceAll('|', '\\|')
  return `| ${isMutation(route) ? '**' : ''}${route.method}${isMutation(route) ? '**' : ''} \`${route.path}\` | ${summary} | ${takes} | ${right} |`
}

function bodyKeys({ body }: Route): readonly string[] {
  return body instanceof z.ZodObject ? Object.keys(body.shape) : []
}
