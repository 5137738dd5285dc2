/** What is needed of a connection. */
export interface Queryable {
  query(text: string): Promise<unknown>
}

export interface FillOptions {
  readonly rows: number
  readonly schema?: string
  /** Entries of each history, about 1 kB each. Default: 5. */
  readonly entries?: number
  /** Told after every piece, of 50,000 rows. */
  readonly onProgress?: (rows: number) => void
}

const PIECE = 50_000
const CAUSES = 50
const STACK_LINES = 9

/**
 * Fills the dead-letter queue as a year of operation would: 20 queues, 25 kinds, 50 causes, deaths spread over the last
 * 30 days in the order of their ids, histories with stacks, tags on every tenth row. The oldest 5,000 rows are of the
 * queue `old-queue`, the kind `old.kind`, the reason `old reason`, the cause `00000000000000ff`, the tag `old` and
 * messages of `old upstream`, so that each filter has a rare and old side. The queues that began empty stand as the engine itself would have left them.
 */
export async function fillDead(
  client: Queryable,
  { rows, schema = 'spillway', entries = 5, onProgress }: FillOptions,
): Promise<void> {
  await client.query(causesTable())
  for (let from = 0; from < rows; from += PIECE) {
    const to = Math.min(rows, from + PIECE)
    await client.query(piece(schema, from, to, rows, entries))
    onProgress?.(to)
  }
  await client.query(rest(schema))
  await client.query(
    `vacuum analyze ${schema}.dlq_entries, ${schema}.dlq_tags, ${schema}.dlq_causes, ${schema}.cause_deltas`,
  )
}

/** Per cause: who it is, and the text of a history before and after the number that differs from row to row. */
function causesTable(): string {
  const stack = `(select string_agg('    at ' || substr(md5(c || ':' || l), 1, 12) || '.handle (/srv/app/dist/jobs/' || substr(md5(l || '/' || c), 1, 20)
                    || '.js:' || (c * 31 + l * 17) % 900 || ':' || l || ')', '\\n' order by l) from generate_series(1, ${STACK_LINES}) l)`
  return `
    drop table if exists fill_causes;
    create temp table fill_causes as
    select c, substr(md5('cause ' || c), 1, 16) as cause, 'billing.charge' || c % 25 as kind, 'queue-' || c % 20 as queue,
           case c % 10 when 0 then 'skipped' when 1 then 'deadline_exceeded' else 'attempts_exhausted' end as reason,
           (array['TypeError', 'GatewayError', 'TimeoutError', 'ValidationError'])[c % 4 + 1] as class,
           'upstream ' || c || ' answered 50' || c % 5 || ' for charge' as message,
           '","name":"' || (array['TypeError', 'GatewayError', 'TimeoutError', 'ValidationError'])[c % 4 + 1]
             || '","message":"upstream ' || c || ' answered 50' || c % 5 || ' for charge","stack":"' || ${stack}
             || '","code":null,"cause":[],"truncated":false}' as tail
      from generate_series(0, ${CAUSES - 1}) c`
}

/** The history of a row, as one expression: a function would cost more than all the rest. */
function historyOf(entries: number): string {
  const entry = (
    e: number,
  ) => `('{"type":"error","at":"' || at_text || '","started_at":"' || at_text || '","generation":0,"attempt":${e},"lease_id":"'
    || n * 16 + ${e} || '","worker":"web-1 #${e}' || c.tail)::json`
  return `array[${Array.from({ length: entries }, (_, e) => entry(e)).join(', ')}]::json[]`
}

function piece(schema: string, from: number, to: number, rows: number, entries: number): string {
  return `
    insert into ${schema}.dlq_entries
           (id, created_at, run_at, max_attempts, attempt, run_lease, priority, queue, kind, tags, metadata, history, payload,
            dlq_at, dlq_reason, original_run_lease, cause, error_class, error_message, retain_from, lease_id, started_at)
    select nextval('${schema}.job_ids'), at - interval '1 hour', at, 5, 5, 5, 50,
           case when old then 'old-queue' else c.queue end, case when old then 'old.kind' else c.kind end,
           case when old then array['old'] when n % 10 = 0 then array['customer-' || n % 1000, 'urgent'] end,
           '{"trace":"00-4bf92f3577b34da6a3ce929d0e0e4736"}', ${historyOf(entries)},
           json_build_object('charge', n, 'customer', 'customer-' || n % 1000, 'amount', n % 100000),
           at, case when old then 'old reason' else c.reason end, 5, case when old then '00000000000000ff' else c.cause end,
           c.class, case when old then 'old ' else '' end || c.message || ' ' || n, at, n * 16, at - interval '1 second'
      from (select n::bigint as n, n < 5000 and n < ${rows} / 10 as old,
                   now() - interval '30 days' + n * (interval '30 days' / ${rows}) as at,
                   to_char(now() - interval '30 days' + n * (interval '30 days' / ${rows}), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at_text
              from generate_series(${from}, ${to - 1}) n) as rows
      join fill_causes c on c.c = (n * 7919) % ${CAUSES}
     order by n`
}

function rest(schema: string): string {
  return `
    insert into ${schema}.dlq_tags (tag, dlq_at, id)
    select distinct tag, d.dlq_at, d.id from ${schema}.dlq_entries d, unnest(d.tags) as tag where d.tags is not null
    on conflict do nothing;
    insert into ${schema}.dlq_causes (queue, cause, kind, reason, error_class, title, sample_id, first_at, last_at)
    select queue, cause, min(kind), min(dlq_reason), min(error_class), min(error_message), min(id), min(dlq_at), max(dlq_at)
      from ${schema}.dlq_entries group by queue, cause
    on conflict (queue, cause) do nothing;
    delete from ${schema}.cause_deltas;
    update ${schema}.dlq_causes c
       set count = (select count(*) from ${schema}.dlq_entries d where d.queue = c.queue and d.cause = c.cause);
    insert into ${schema}.counters (queue, kind, reason, what, n)
    select queue, kind, dlq_reason, 'arrived', count(*) from ${schema}.dlq_entries group by 1, 2, 3`
}
