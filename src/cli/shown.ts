import { wireJson } from '../client/wire.js'

/** Control characters and direction marks: what comes from jobs must not steer the terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above, but for line ends and tabs.
const UNPRINTABLE_IN_BLOCK = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Text of a job's on one line, harmless to a terminal, at most `width` characters. */
export function oneLine(text: string, width = Number.POSITIVE_INFINITY): string {
  const clean = text.replace(/\s+/g, ' ').replace(UNPRINTABLE, '\ufffd').trim()
  const characters = width === Number.POSITIVE_INFINITY ? [] : [...clean]
  return characters.length > width ? `${characters.slice(0, Math.max(1, width - 1)).join('')}…` : clean
}

/** Text of several lines, such as a stack, harmless to a terminal. */
export function block(text: string, indent: string): string {
  return text.replace(UNPRINTABLE_IN_BLOCK, '\ufffd').replace(/^/gm, indent)
}

/** JSON, with integers of any size as they are. */
export const json = wireJson

const STEPS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** A length of time in its two largest units: `3d 4h`, `12s`, `250ms`. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`
  const at = STEPS.findIndex(([, size]) => ms >= size)
  const [unit, size] = STEPS[at]!
  const whole = Math.floor(ms / size)
  const next = STEPS[at + 1]
  const rest = next === undefined ? 0 : Math.floor((ms - whole * size) / next[1])
  return rest === 0 || next === undefined ? `${whole}${unit}` : `${whole}${unit} ${rest}${next[0]}`
}

/** A time as seen from `now`: `5m ago`, `in 2h`. */
export function relative(date: Date, now: number): string {
  const ms = date.getTime() - now
  if (Math.abs(ms) < 1_000) return 'now'
  return ms < 0 ? `${span(-ms)} ago` : `in ${span(ms)}`
}
