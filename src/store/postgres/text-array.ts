/** Reads a PostgreSQL text array such as `{a,"b \"c\""}`; null is empty. */
export function textArray(literal: string | null): readonly string[] {
  if (literal === null || literal === '{}') return []
  if (!literal.includes('"')) return literal.slice(1, -1).split(',')
  const items: string[] = []
  let item = ''
  let quoted = false
  for (let n = 1; n < literal.length - 1; n++) {
    const char = literal[n] as string
    if (char === '\\') item += literal[++n]
    else if (char === '"') quoted = !quoted
    else if (char === ',' && !quoted) {
      items.push(item)
      item = ''
    } else item += char
  }
  items.push(item)
  return items
}
