import { type ErrorCode, isSpillwayError, SpillwayError, shown } from '../job/errors.js'
import type { Act, IncomingDeath, Store } from '../store/store.js'
import type { ActOptions } from './act.js'
import { incomingDeath } from './incoming-death.js'

/** What became of one line. */
export type ImportedLine =
  | { readonly line: number; readonly imported: true; readonly id: string }
  | { readonly line: number; readonly imported: false; readonly code: ErrorCode; readonly message: string }

export interface ImportReport {
  readonly imported: number
  /** Every line that was refused, by number from 1, and why. Nothing of them was stored. */
  readonly refused: readonly (ImportedLine & { readonly imported: false })[]
}

export interface ImportOptions extends ActOptions {
  /** The only queues that lines may name; one of another is refused (`forbidden`). Default: all. */
  readonly queues?: readonly string[] | undefined
  /** Told of every line in order, once it is decided. */
  readonly onLine?: ((line: ImportedLine) => void) | undefined
}

const BATCH_ROWS = 200
const BATCH_CHARS = 4 * 1024 * 1024

interface Numbered {
  readonly line: number
  readonly death: IncomingDeath
}

/**
 * Stores lines as dead letters, in batches that are one transaction each. Interrupted, whole batches are stored; the same
 * lines again are then refused by their ids.
 */
export async function importLines(
  store: Pick<Store, 'importDlq'>,
  lines: AsyncIterable<string> | Iterable<string>,
  act: Act,
  maxBytes: number,
  { onLine = () => undefined, queues }: Pick<ImportOptions, 'onLine' | 'queues'> = {},
): Promise<ImportReport> {
  const refused: (ImportedLine & { imported: false })[] = []
  let imported = 0
  let waiting: (Numbered | (ImportedLine & { imported: false }))[] = []
  let chars = 0

  async function settle(): Promise<void> {
    const batch = waiting
    waiting = []
    chars = 0
    const deaths = batch.filter((it): it is Numbered => 'death' in it)
    const landed = new Map((await stored(store, deaths, act)).map((it) => [it.line, it]))
    for (const it of batch) {
      const result = 'death' in it ? (landed.get(it.line) as ImportedLine) : it
      if (result.imported) imported++
      else refused.push(result)
      onLine(result)
    }
  }

  let line = 0
  for await (const text of lines) {
    line++
    if (text.trim() === '') continue
    try {
      const death = incomingDeath(text, maxBytes, new Date())
      checkWithin(queues, death)
      waiting.push({ line, death })
    } catch (error) {
      if (!isSpillwayError(error)) throw error
      waiting.push({ line, imported: false, code: error.code, message: `line ${line}: ${error.message}` })
    }
    chars += text.length
    if (waiting.length >= BATCH_ROWS || chars >= BATCH_CHARS) await settle()
  }
  await settle()
  return { imported, refused }
}

/** @throws `forbidden` */
function checkWithin(queues: readonly string[] | undefined, { columns: { queue } }: IncomingDeath): void {
  if (queues === undefined || queues.includes(String(queue))) return
  throw new SpillwayError(
    'forbidden',
    `it is of queue ${shown(queue)}, and only ${queues.join(', ')} may be imported to`,
  )
}

/** A batch that PostgreSQL refuses for the data of one row is halved, until that row stands alone. */
async function stored(store: Pick<Store, 'importDlq'>, batch: readonly Numbered[], act: Act): Promise<ImportedLine[]> {
  if (batch.length === 0) return []
  try {
    const landed = await store.importDlq(
      batch.map(({ death }) => death),
      act,
    )
    return batch.map(({ line }, n) => {
      const it = landed[n]!
      return it.imported ? { line, ...it } : { line, ...it, message: `line ${line}: ${it.message}` }
    })
  } catch (error) {
    if (!isSpillwayError(error) || error.code !== 'internal') throw error
    if (batch.length === 1) {
      const { line } = batch[0]!
      return [{ line, imported: false, code: 'internal', message: `line ${line}: ${error.message}` }]
    }
    const middle = Math.floor(batch.length / 2)
    return [...(await stored(store, batch.slice(0, middle), act)), ...(await stored(store, batch.slice(middle), act))]
  }
}
