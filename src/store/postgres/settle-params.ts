import type { JobEnd, Settlement } from '../store.js'
import type { DeathParams } from './queries/settle/dead.js'

/** What the statement that writes deaths is given. */
export function deathParams(group: readonly Settlement[], hasReported: boolean): DeathParams {
  const deaths = ends(group, 'dead')
  return [
    numbers(group, ({ job }) => job.id),
    numbers(group, ({ job }) => job.leaseId),
    texts(deaths, (end) => end.reason),
    numbers(deaths, (end) => end.charge),
    documents(deaths, (end) => end.entry),
    texts(deaths, (end) => end.cause),
    texts(deaths, (end) => end.errorClass),
    texts(deaths, (end) => end.errorMessage),
    texts(deaths, (end) => end.title),
    hasReported,
  ]
}

/** The ends of a group of that event. */
export function ends<E extends JobEnd['event']>(
  group: readonly Settlement[],
  _event: E,
): Extract<JobEnd, { event: E }>[] {
  return group.map(({ end }) => end as Extract<JobEnd, { event: E }>)
}

/** Numbers as an array literal. */
export function numbers<T>(items: readonly T[], of: (item: T) => string | number): string {
  return `{${items.map(of).join(',')}}`
}

// Control characters separate the texts of one parameter; error texts may hold them, JSON cannot.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f]/g

/** Texts joined as the statements take them apart. */
export function texts<T>(items: readonly T[], of: (item: T) => string | null): string {
  return items.map((item) => of(item)?.replace(CONTROL, ' ') ?? '\x1e').join('\x1f')
}

/** The same for JSON, which holds no control characters. */
export function documents<T>(items: readonly T[], of: (item: T) => string | null): string {
  return items.map((item) => of(item) ?? '\x1e').join('\x1f')
}
