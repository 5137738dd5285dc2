import { Fragment, type Identifier } from '../sql.js'

/** What people can say, in the order of the columns that say it. */
export const MARKS = {
  ack: ['acknowledged_at', 'acknowledged_by'],
  note: ['note', 'noted_at', 'noted_by'],
  mute: ['muted_until', 'muted_at', 'muted_by'],
  resolve: ['resolved_at', 'resolved_by', 'link'],
} as const

export type Mark = keyof typeof MARKS

export const MARK_COLUMNS: readonly string[] = Object.values(MARKS).flat()

/** When somebody last looked: whatever was said counts. Null: nobody has. */
export function reviewedAt(alias: string): Fragment {
  const times = ['acknowledged_at', 'noted_at', 'muted_at', 'resolved_at'].map((column) => `${alias}.${column}`)
  return new Fragment(`greatest(${times.join(', ')})`)
}

/** The marks of a row as one JSON document, times in ms; `regressed` is SQL for when it failed again. */
export function marksJson(alias: string, regressed: string): Fragment {
  const parts = MARK_COLUMNS.map((column) =>
    /_(at|until)$/.test(column)
      ? `'${column}', date_part('epoch', ${alias}.${column}) * 1000`
      : `'${column}', ${alias}.${column}`,
  )
  return new Fragment(
    `json_build_object(${parts.join(', ')}, 'regressed_at', date_part('epoch', ${regressed}) * 1000)::text`,
  )
}

/** Whether somebody has looked at the dead letter in row `alias`: at itself, or at its cause since it died. */
export function isReviewed(rows: Identifier, causes: Identifier, alias: string): Fragment {
  return new Fragment(`(exists (select from ${rows.quoted} r where r.job_id = ${alias}.id and r.generation = ${alias}.generation
                       and ${reviewedAt('r').quoted} is not null)
             or exists (select from ${causes.quoted} c where c.queue = ${alias}.queue and c.cause = ${alias}.cause
                       and ${reviewedAt('c').quoted} >= ${alias}.dlq_at))`)
}
