import { exactJson } from './exact-json.js'
import { place } from './place.js'
import { lineOf, type Sent } from './server.js'
import type { WireName } from './wire-routes.js'

/** The command line for some words, each quoted where a shell would read more into it: `spillway dlq retry 42`. */
export function commandOf(...words: readonly (string | undefined)[]): string {
  return ['npx', 'spillway', ...words.filter((it) => it !== undefined).map(quoted)].join(' ')
}

/** A flag with its value, or nothing where there is none. */
export function flag(name: string, value: string | number | undefined): readonly string[] {
  return value === undefined || value === '' ? [] : [`--${name}`, String(value)]
}

/** The request that {@link ask} would send, as a command of curl. */
export function curlOf<N extends WireName>(name: N, sent: Sent<N>): string {
  const { method, path } = lineOf(name, sent as never)
  const { body } = sent as { body?: unknown }
  return [
    'curl',
    ...(method === 'GET' ? [] : ['-X', method]),
    ...['-H', '"Authorization: Bearer $SPILLWAY_TOKEN"'],
    ...(method === 'GET' ? [] : ['-H', '"Idempotency-Key: $(uuidgen)"']),
    ...(body === undefined ? [] : ['-H', quoted('Content-Type: application/json'), '-d', quoted(exactJson(body))]),
    quoted(new URL(path, place).href),
  ].join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
