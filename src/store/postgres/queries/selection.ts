import type { Selector } from '../../../job/selector.js'
import { Fragment, fragment, Identifier, join, whole } from '../sql.js'
import type { Conditions } from './conditions.js'
import type { Source } from './sources.js'

/** Rows one window reads at most: what does not match costs time too. */
export const WINDOW_ROWS = 5_000
export const WINDOW_IDS = 1_000
const WINDOW_BYTES = 8 * 1024 * 1024

/** Where a scan stands: after this row in the order (time, id); for a list of ids, after so many of them. */
export interface ScanCursor {
  readonly at: string
  readonly id: string
}

/** What a window is cut from. */
export interface WindowRequest {
  readonly selector: Selector
  /** Text of the operation's snapshot. */
  readonly snapshot: string
  readonly cursor: ScanCursor
  /** Matching rows at most. */
  readonly limit: number
  /** Rows read at most. */
  readonly scan: number
  /** Rows the snapshot does not see are taken instead of those it does: to count what came later. */
  readonly newer?: boolean
  /** Only ids that leave this remainder. */
  readonly lane?: { readonly of: number; readonly number: number } | undefined
}

/** The lines of a scan in order, and what of them belongs. */
interface Scan {
  /** `select id, at, spot, part, bytes, hit, lead … order by lead, at, id limit …`. */
  readonly rows: Fragment
  /** The order they come in, for whoever reads them not to sort them again. */
  readonly order: Fragment
  /** The key of the last row that the scan may read; no row where it ends before. */
  readonly edge: Fragment
}

/**
 * The next rows that a selector is about, oldest first, as the CTE `cut (id, at, part, spot, place)`: the first `limit`
 * that match among the next `scan`, and at most 8 MiB of them. Nothing is locked. Reading stops at the last match, so a
 * selector that matches everything reads no more than it takes. Beside it stand `hits` (what matched, before the bound
 * on bytes), `filled` (whether it ended because it had enough) and `edge` (where the scan stops when it finds too few).
 *
 * A single filter leads through its own index; of several, one leads and the others are looked at row by row. A row
 * belongs to the operation if its snapshot saw the death; one without a transaction id (imported) always does.
 */
export function windowOf(schema: string, source: Source, where: Conditions, request: WindowRequest): Fragment {
  const { rows, order, edge } = scanOf(schema, source, where, request)
  const limit = where.value(request.limit, 'bigint')
  return fragment`
      hits as materialized (
        select id, at, part, spot, bytes
          from (${rows}) as run
         where hit
         order by ${order}
         limit ${limit}
      ),
      cut as materialized (
        select id, at, part, spot, place
          from (select *, sum(bytes) over run as total, row_number() over run as place
                  from hits window run as (order by at, id)) as sized
         where place = 1 or total <= ${new Fragment(String(WINDOW_BYTES))}
      ),
      filled as materialized (
        select (select count(*) from hits) >= ${limit} or (select count(*) from cut) < (select count(*) from hits) as is_full
      ),
      edge as materialized (${edge}
      )`
}

/** How many of the next `scan` rows match, as the CTE `counted (hits)`, beside `edge`. */
export function countOf(schema: string, source: Source, where: Conditions, request: WindowRequest): Fragment {
  const { rows, edge } = scanOf(schema, source, where, request)
  return fragment`
      counted as materialized (
        select count(*) filter (where hit) as hits from (${rows}) as run
      ),
      edge as materialized (${edge}
      )`
}

function scanOf(schema: string, source: Source, where: Conditions, request: WindowRequest): Scan {
  const { selector, snapshot, cursor, scan, newer = false, lane } = request
  const at = new Fragment(`d.${source.at}`)
  const belongs = belonging(source, where, snapshot, newer)
  const { lead, others } = filters(where, selector, source)
  const share = lane ? [fragment`d.id % ${whole(lane.of)} = ${where.value(lane.number, 'bigint')}`] : []
  const hit = join([...share, belongs, ...others], ' and ')
  const behind = fragment`${where.value(cursor.at, 'timestamptz')}, ${where.value(cursor.id, 'bigint')}`
  // Part of the text: with a bound it does not know, a generic plan sorts the whole table.
  const scanned = whole(scan)
  const always = source.always ? fragment`${source.always} and ` : fragment``
  const of = (
    key: Fragment,
    by = 'd',
  ) => fragment`${new Fragment(by)}.id, ${new Fragment(`${by}.${source.at}`)} as at, d.tableoid as part, d.ctid as spot, ${key} as lead,
               pg_column_size(d.payload) + coalesce(pg_column_size(d.history), 0) as bytes, (${hit}) as hit`
  const keys = fragment`${at} as at, d.id`

  if (lead?.kind === 'tag') {
    const from = fragment`
          from ${new Identifier(schema, 'dlq_tags')} t
          join ${source.table} d on d.id = t.id
         where (t.tag, t.dlq_at, t.id) > (${lead.value}, ${behind})
           and (t.tag, t.dlq_at) <= (${lead.value}, 'infinity'::timestamptz)
         order by t.tag, t.dlq_at, t.id`
    return ordered(from, of(new Fragment('t.tag'), 't'), 'lead, at, id', keys, scanned)
  }
  if (lead) {
    const from = fragment`
          from ${source.table} d
         where ${always}(${lead.column}, ${at}, d.id) > (${lead.value}, ${behind})
           and (${lead.column}, ${at}) <= (${lead.value}, 'infinity'::timestamptz)
         order by ${lead.column}, ${at}, d.id`
    return ordered(from, of(lead.column), 'lead, at, id', keys, scanned)
  }
  const from = fragment`
          from ${source.table} d
         where ${always}(${at}, d.id) > (${behind})
         order by ${at}, d.id`
  return ordered(from, of(new Fragment('null::text')), 'at, id', keys, scanned)
}

function ordered(from: Fragment, what: Fragment, order: string, keys: Fragment, scanned: Fragment): Scan {
  return {
    order: new Fragment(order),
    rows: fragment`
        select ${what}${from}
         limit ${scanned}`,
    edge: fragment`
        select ${keys}${from}
        offset ${scanned} - 1 limit 1`,
  }
}

/** Whether a row `d` died before the operation's snapshot, or (`newer`) after it. */
function belonging(source: Source, where: Conditions, snapshot: string, newer: boolean): Fragment {
  const seen = fragment`coalesce(pg_visible_in_snapshot(${source.xid}, ${where.value(snapshot, 'pg_snapshot')}), true)`
  return newer ? fragment`not ${seen}` : seen
}

/**
 * Named rows, in the order given, as the CTE `cut`; those that are not there, do not match, or died after `snapshot`
 * (null: whenever) are missing.
 */
export function namedWindow(
  source: Source,
  where: Conditions,
  ids: readonly string[],
  selector: Selector,
  snapshot: string | null,
): Fragment {
  const { lead, others } = filters(where, selector, source)
  const conditions = [
    ...(source.always ? [source.always] : []),
    ...(snapshot === null ? [] : [belonging(source, where, snapshot, false)]),
    ...(lead ? [equal(lead)] : []),
    ...others,
  ]
  const also = conditions.length > 0 ? fragment` where ${join(conditions, ' and ')}` : fragment``
  return fragment`
      cut as materialized (
        select d.id, ${new Fragment(`d.${source.at}`)} as at, d.tableoid as part, d.ctid as spot, i.place
          from unnest(${where.value(ids, 'bigint[]')}) with ordinality as i(id, place)
          join ${source.table} d on d.id = i.id${also}
      )`
}

/**
 * How many rows that match died after `snapshot`, as the CTE `counted (hits)`, of the next `scan` deaths behind the
 * transaction `after`; and the last of those transactions as `edge (xid)`: no row where there are no more.
 *
 * Index: dlq_new, so that what an operation has moved, dead in all other indexes by now, is not walked over again.
 */
export function newerOf(
  source: Source,
  where: Conditions,
  request: Pick<WindowRequest, 'selector' | 'snapshot' | 'scan'>,
  after: string,
): Fragment {
  const { selector, snapshot, scan } = request
  const bound = where.value(snapshot, 'pg_snapshot')
  const { xid } = source
  const { lead, others } = filters(where, selector, source)
  const conditions = [fragment`not pg_visible_in_snapshot(${xid}, ${bound})`, ...(lead ? [equal(lead)] : []), ...others]
  const from = fragment`${source.table} d
         where ${xid} >= pg_snapshot_xmin(${bound}) and ${xid} > ${where.value(after, 'xid8')}`
  return fragment`
      edge as materialized (
        select ${xid} as xid from ${from} order by ${xid} offset ${whole(scan)} - 1 limit 1
      ),
      counted as materialized (
        select count(*) as hits from ${from}
           and ${xid} <= coalesce((select xid from edge), '18446744073709551615'::xid8)
           and ${join(conditions, ' and ')}
      )`
}

function equal(lead: Lead): Fragment {
  return lead.kind === 'column' ? fragment`${lead.column} = ${lead.value}` : fragment`${lead.value} = any (d.tags)`
}

type Lead =
  | { readonly kind: 'column'; readonly column: Fragment; readonly value: Fragment }
  | { readonly kind: 'tag'; readonly value: Fragment }

/** The filter that leads through an index, rarest kind first, and the conditions on the rows it leads to. */
function filters(
  where: Conditions,
  selector: Selector,
  source: Source,
): { lead: Lead | undefined; others: Fragment[] } {
  const { cause, tag, kind, reason, queue, queues, error, since, until } = selector
  const columns = [
    ['cause', cause],
    ['kind', kind],
    [source.reason, reason],
    ['queue', queue],
  ] as const
  // Of failed jobs only the queue has an index.
  const indexed = source.at === 'dlq_at' ? columns : columns.filter(([column]) => column === 'queue')
  const leading =
    tag !== undefined && source.at === 'dlq_at' && cause === undefined
      ? undefined
      : indexed.find(([, value]) => value !== undefined)
  const others: Fragment[] = []
  let lead: Lead | undefined
  if (leading) {
    lead = { kind: 'column', column: new Fragment(`d.${leading[0]}`), value: where.value(leading[1]) }
  } else if (tag !== undefined && source.at === 'dlq_at') {
    lead = { kind: 'tag', value: where.value(tag) }
  }
  for (const column of columns) {
    if (column !== leading && column[1] !== undefined) others.push(where.compare(`d.${column[0]} =`, column[1]))
  }
  if (queues !== undefined) others.push(fragment`d.queue = any (${where.value(queues, 'text[]')})`)
  if (tag !== undefined && lead?.kind !== 'tag') others.push(fragment`${where.value(tag)} = any (d.tags)`)
  if (error !== undefined) {
    const pattern = where.value(`%${error.replace(/[\\%_]/g, '\\$&')}%`)
    others.push(
      fragment`(coalesce(d.error_message ilike ${pattern}, false) or coalesce(d.error_class ilike ${pattern}, false))`,
    )
  }
  if (since !== undefined) others.push(where.compare(`d.${source.at} >=`, since.toISOString(), 'timestamptz'))
  if (until !== undefined) others.push(where.compare(`d.${source.at} <`, until.toISOString(), 'timestamptz'))
  return { lead, others }
}
