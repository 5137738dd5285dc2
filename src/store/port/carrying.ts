import type { ErrorCode } from '../../job/errors.js'
import type { Act } from './act.js'
import type { DlqFilter } from './inspecting.js'
import type { Page, PageRequest } from './page.js'

/** A dead letter that comes from elsewhere, checked; JSON texts are stored as they are. */
export interface IncomingDeath {
  /** null: a new one is given out. */
  readonly id: string | null
  /** Columns of the dead letter by their names, but for those below; times as ISO text. */
  readonly columns: Readonly<Record<string, string | number | null>>
  readonly tags: readonly string[] | null
  /** JSON texts. */
  readonly payload: string
  readonly metadata: string | null
  readonly retention: string | null
  readonly progress: string | null
  /** JSON text of a list. */
  readonly history: string
  readonly title: string
}

/** What became of one incoming dead letter, in the order given: the id it has here, or why it was refused. */
export type Landed =
  | { readonly imported: true; readonly id: string }
  | { readonly imported: false; readonly code: ErrorCode; readonly message: string }

export interface Carrying {
  /** Dead letters as one line of JSON each, newest death first; payloads stand in them as they are stored. */
  exportDlq(filter: DlqFilter, page: PageRequest): Promise<Page<string>>
  /** – → archived, in one transaction. One whose id is anywhere is refused alone. */
  importDlq(deaths: readonly IncomingDeath[], act: Act): Promise<readonly Landed[]>
}
