import { isExactNumber } from './exact-json.js'

/** Keys under which the keys are somebody else's: what users gave as JSON, and tables by reason or state. */
const VERBATIM = [
  'payload',
  'metadata',
  'result',
  'progress',
  'details',
  'target',
  'counts',
  'arrived_by',
  'departed_by',
] as const
type Verbatim = (typeof VERBATIM)[number]

type Camel<S> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S
type IsMoment<K> = K extends 'at' | 'since' | 'until' | 'deadline' | `${string}_at` | `${string}_until` ? true : false
type Moment<T> = T extends string ? Date : T

/** What the API answers, as the console has it: keys in camelCase, times as dates, and what is users' own as it came. */
export type View<T> = unknown extends T
  ? T
  : T extends readonly (infer E)[]
    ? View<E>[]
    : T extends object
      ? { [K in keyof T as Camel<K>]: K extends Verbatim ? T[K] : IsMoment<K> extends true ? Moment<T[K]> : View<T[K]> }
      : T

const verbatim: ReadonlySet<string> = new Set(VERBATIM)
const MOMENT = /^(at|since|until|deadline|.*_(at|until))$/

/** Makes a {@link View} of something off the wire. Nothing else of the console parses a time or renames a key. */
export function viewOf(wire: unknown): unknown {
  if (Array.isArray(wire)) return wire.map(viewOf)
  if (typeof wire !== 'object' || wire === null || isExactNumber(wire)) return wire
  return Object.fromEntries(
    Object.entries(wire).map(([key, value]) => {
      if (verbatim.has(key)) return [camel(key), value]
      return [camel(key), MOMENT.test(key) && typeof value === 'string' ? new Date(value) : viewOf(value)]
    }),
  )
}

function camel(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
