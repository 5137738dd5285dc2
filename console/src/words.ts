/** Numbers, lengths of time and plurals as the console says them. */

const whole = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** `1,234,567` */
export function count(value: number): string {
  return whole.format(value)
}

/** `1.2M`, for places where there is little room; the exact number stands beside it or in its title. */
export function shortCount(value: number): string {
  return short.format(value)
}

/** `1 dead letter`, `1,200 dead letters` */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

/** A total as it is known: exact, an upper bound, or not at all. */
export function totalText(total: { readonly count: number; readonly estimate: boolean } | undefined): string {
  if (total === undefined) return 'number unknown'
  return total.estimate ? `at most ${count(total.count)}` : count(total.count)
}

const STEPS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

/** `3 d 4 h`, `12 s`: at most two units, the smaller one only where it says something. */
export function lengthOf(ms: number): string {
  const at = STEPS.findIndex(([unit]) => ms >= unit)
  if (at === -1) return ms < 1 ? '0 s' : `${Math.round(ms)} ms`
  const [unit, name] = STEPS[at]!
  const big = Math.floor(ms / unit)
  const next = STEPS[at + 1]
  const small = next === undefined || big >= 10 ? 0 : Math.floor((ms % unit) / next[0])
  return small === 0 ? `${big} ${name}` : `${big} ${name} ${small} ${next![1]}`
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const

/** `30d`: a length of time as the API reads it, in the largest unit that says it exactly. */
export function durationText(ms: number): string {
  if (ms === 0) return '0s'
  const [unit, name] = UNITS.find(([it]) => ms % it === 0) ?? [1, 'ms']
  return `${ms / unit}${name}`
}

/** `3 min ago`, `in 2 h`, `now` */
export function relative(at: Date, now: number): string {
  const ms = at.getTime() - now
  if (Math.abs(ms) < 1_000) return 'now'
  const big = biggest(Math.abs(ms))
  return ms < 0 ? `${big} ago` : `in ${big}`
}

function biggest(ms: number): string {
  const [unit, name] = STEPS.find(([it]) => ms >= it) ?? STEPS[3]
  return `${Math.floor(ms / unit)} ${name}`
}

const absoluteParts = new Intl.DateTimeFormat('en', {
  ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
  hourCycle: 'h23',
  timeZoneName: 'short',
})

/** `2030-01-31 12:00:05 GMT+1`, in the zone of whoever looks. */
export function absolute(at: Date): string {
  if (Number.isNaN(at.getTime())) return 'no date'
  const part = Object.fromEntries(absoluteParts.formatToParts(at).map(({ type, value }) => [type, value]))
  return `${part['year']}-${part['month']}-${part['day']} ${part['hour']}:${part['minute']}:${part['second']} ${part['timeZoneName']}`
}

/** A word of the API's as people read it: `attempts_exhausted` → `attempts exhausted`. */
export function spoken(word: string): string {
  return word.replaceAll('_', ' ')
}
