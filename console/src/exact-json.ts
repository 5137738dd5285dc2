/** A number as it stood in the text; `JSON.stringify` writes it as it is. */
interface RawJson {
  readonly rawJSON: string
}

interface JsonOfTheBrowser {
  parse(text: string, reviver: (key: string, value: unknown, context?: { source?: string }) => unknown): unknown
  rawJSON?(text: string): RawJson
  isRawJSON?(value: unknown): value is RawJson
}

const browser = JSON as unknown as JsonOfTheBrowser

/**
 * Reads JSON so that numbers which JavaScript would round stay what they are. Browsers without `JSON.rawJSON` round them,
 * as every page of theirs does.
 */
export function parseExactly(text: string): unknown {
  const { rawJSON } = browser
  if (rawJSON === undefined) return JSON.parse(text)
  return browser.parse(text, (_, value, context) => {
    const source = context?.source
    return typeof value === 'number' && source !== undefined && String(value) !== source ? rawJSON(source) : value
  })
}

/** The other way. */
export function exactJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent)
}

/** Whether a value is a number that {@link parseExactly} has kept as its text. */
export function isExactNumber(value: unknown): value is RawJson {
  return browser.isRawJSON?.(value) ?? false
}
