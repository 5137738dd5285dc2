import type { Operation } from '../../api.js'
import { absolute, counted, spoken } from '../../words.js'

const DOES: Readonly<Record<Operation['action'], string>> = {
  retry: 'Retry',
  discard: 'Discard',
  purge: 'Purge',
  move: 'Move into the dead-letter queue',
  undo: 'Undo',
}

/** What an operation does: `Retry`, `Dry run of a purge`. */
export function actionText({ action, dryRun, undoOf }: Operation): string {
  if (undoOf !== null) return `Undo of operation ${undoOf}`
  return dryRun ? `Dry run of a ${action}` : DOES[action]
}

/** Which rows it is about, in words. */
export function selectorText({ selector }: Operation): string {
  const { ids, all, ...filter } = selector
  const parts = Object.entries(filter).map(([key, value]) => `${spoken(key)} ${valueText(value)}`)
  if (ids !== undefined) parts.unshift(counted(ids.length, 'named row'))
  return parts.length === 0 ? (all ? 'everything' : 'what its preview saw') : parts.join(', ')
}

function valueText(value: unknown): string {
  if (value instanceof Date) return absolute(value)
  return Array.isArray(value) ? value.join(' or ') : String(value)
}

/** What it is at now, for whoever watches. */
export function phaseText({ phase, state, canary }: Operation): string {
  if (state === 'paused') return 'It stands still between two batches.'
  const words: Readonly<Record<string, string>> = {
    counting: 'It counts what matches.',
    canary: `It has sent ${counted(canary ?? 0, 'canary', 'canaries')} ahead, and waits how they do before the rest follows.`,
    moving: 'It moves rows.',
    revisiting: 'It comes back to rows that others held.',
    newer: 'It counts what died later and was left alone.',
    ended: 'It is over.',
  }
  return words[phase] ?? spoken(phase)
}
