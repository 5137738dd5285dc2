/** Readers of the query string. What is not understood is left out, so that no address breaks a page. */

type Raw = Readonly<Record<string, unknown>>

/** A text that is there and not too long. */
export function text(search: Raw, key: string, most = 500): string | undefined {
  const value = search[key]
  return typeof value === 'string' && value !== '' && value.length <= most ? value : undefined
}

export function oneOf<const T extends string>(search: Raw, key: string, known: readonly T[]): T | undefined {
  const value = search[key]
  return known.find((it) => it === value)
}

/** A time, as ISO text with its offset. */
export function time(search: Raw, key: string): string | undefined {
  const value = text(search, key, 40)
  return value !== undefined && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined
}

/** Without what is undefined: an address names only what is set. */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

/** The query string as texts: nothing in it is JSON, so that people can read and write it. */
export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search))
}

export function stringifySearch(search: Raw): string {
  const entries = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const params = new URLSearchParams(entries.map(([key, value]) => [key, String(value)])).toString()
  return params === '' ? '' : `?${params}`
}
