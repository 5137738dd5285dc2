/**
 * The members of a JSON object as the text they are written in, by their keys: JSON.parse rounds numbers, this changes
 * nothing. Only the outermost object is taken apart. `text` must be one that JSON.parse reads as an object; of a key that
 * stands there twice the last one counts, as with JSON.parse.
 */
export function rawMembers(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  let at = text.indexOf('{') + 1
  for (;;) {
    at = past(SEPARATORS, text, at)
    if (text[at] !== '"') return members
    const keyEnd = past(STRING, text, at)
    const key = JSON.parse(text.slice(at, keyEnd)) as string
    const start = past(SEPARATORS, text, keyEnd)
    at = valueEnd(text, start)
    members.set(key, text.slice(start, at))
  }
}

const SEPARATORS = /[\s,:]*/y
const STRING = /"(?:[^"\\]+|\\.)*"/y
const SCALAR = /[^\s,\]}]+/y
/** What stands inside an object or a list before its next bracket or string. */
const INSIDE = /[^"{}[\]]*/y

function valueEnd(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return past(STRING, text, start)
  if (first !== '{' && first !== '[') return past(SCALAR, text, start)
  let at = start
  let depth = 0
  do {
    const char = text[at]
    if (char === '"') at = past(STRING, text, at)
    else {
      if (char === '{' || char === '[') depth++
      if (char === '}' || char === ']') depth--
      at++
    }
    if (depth > 0) at = past(INSIDE, text, at)
  } while (depth > 0 && at < text.length)
  return at
}

function past(token: RegExp, text: string, at: number): number {
  token.lastIndex = at
  return at + (token.exec(text)?.[0].length ?? 0)
}
