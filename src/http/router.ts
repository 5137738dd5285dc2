import { SpillwayError } from '../job/errors.js'
import { isStorable } from '../job/text.js'
import type { RouteName } from './contract.js'
import { RefusedWithHeaders } from './problem.js'
import { type Method, pathNames, type Route } from './route.js'

interface Compiled {
  readonly name: RouteName
  readonly route: Route
  readonly shape: RegExp
  readonly names: readonly string[]
}

export interface Matched {
  readonly name: RouteName
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

/** Finds the route of a request. `{id}` matches digits only, so that `/jobs/counts` and `/jobs/42` never meet. */
export class Router {
  private readonly compiled: readonly Compiled[]

  constructor(routes: readonly (readonly [RouteName, Route])[]) {
    this.compiled = routes.map(([name, route]) => ({
      name,
      route,
      shape: shapeOf(route.path),
      names: pathNames(route.path),
    }))
  }

  /** @throws `route_not_found`; `method_not_allowed` where the path is there, and not for this method. */
  find(method: string, path: string): Matched {
    const wanted = method === 'HEAD' ? 'GET' : method
    const allowed = new Set<Method>()
    for (const { name, route, shape, names } of this.compiled) {
      const found = shape.exec(path)
      if (found === null) continue
      allowed.add(route.method)
      if (route.method !== wanted) continue
      const params = Object.fromEntries(names.map((key, n) => [key, decoded(found[n + 1] ?? '')]))
      return { name, route, params }
    }
    if (allowed.size === 0) throw notThere(path)
    const allow = [...allowed].sort().join(', ')
    throw new RefusedWithHeaders(
      'method_not_allowed',
      `cannot ${method.slice(0, 20)} this path: ${allow} is accepted`,
      {
        allow,
      },
    )
  }
}

/** A name of 255 characters, each of which may take nine in an address. */
const LONGEST_PART = 255 * 9

function shapeOf(path: string): RegExp {
  const source = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    name === 'id' ? String.raw`(\d{1,19})` : `([^/]{1,${LONGEST_PART}})`,
  )
  return new RegExp(`^${source}$`)
}

function decoded(part: string): string {
  const text = unescaped(part)
  if (text !== undefined && isStorable(text)) return text
  throw notThere(part)
}

function unescaped(part: string): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    // Half an escape is no name of anything.
    return undefined
  }
}

function notThere(path: string): SpillwayError {
  return new SpillwayError(
    'route_not_found',
    `there is nothing at ${JSON.stringify(path.slice(0, 100))}; /api/v1/openapi.json lists every path, and an {id} is a decimal number`,
  )
}
