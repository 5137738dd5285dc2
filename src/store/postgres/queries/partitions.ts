import { Identifier, type Statement, sql } from '../sql.js'
import { terminalKeep } from './retention.js'

export type PartitionRow = [name: string, state: 'attached' | 'detaching' | 'detached']

export interface DropStatements {
  /** `t` when every row has outlived its own retention, and none is to be archived. Reads the partition; locks nothing. */
  readonly isOutlived: Statement<[], [outlived: string]>
  /** Takes it out of the parent without keeping anybody waiting; not inside a transaction. */
  readonly detach: Statement<[], []>
  /** Ends a detaching that was interrupted. */
  readonly finalize: Statement<[], []>
  /** Counts what goes. In one transaction with {@link DropStatements.drop}, so nothing goes uncounted. */
  readonly count: Statement<[], []>
  readonly drop: Statement<[], []>
}

export function partitionQueries(schema: string) {
  const terminal = new Identifier(schema, 'terminal_entries')

  return {
    /** Makes what is missing from yesterday to a week ahead. */
    prepare: sql<[], [made: string]>`
      select ${new Identifier(schema, 'ensure_terminal_partitions')}(
               (now() at time zone 'UTC')::date - 1, (now() at time zone 'UTC')::date + 7)`,

    /**
     * Partitions whose newest row is older than the longest retention of their class, those of the class without a
     * longest once they are old and empty, and first of all what interrupted drops have left.
     */
    old: sql<[], PartitionRow>`
      select name, case when not attached then 'detached' when detaching then 'detaching' else 'attached' end
        from (select c.relname as name, c.relispartition as attached, coalesce(i.inhdetachpending, false) as detaching,
                     pg_relation_size(c.oid) as bytes, substr(c.relname, 10, 1)::integer as class,
                     (substr(c.relname, 12)::date + 1)::timestamp at time zone 'UTC' as ended
                from pg_class c
                left join pg_inherits i on i.inhrelid = c.oid
               where c.relnamespace = (select relnamespace from pg_class where oid = '${terminal}'::regclass)
                 and c.relkind = 'r'
                 and c.relname ~ '^terminal_[0-3]_\d{8}$') as p
       where case class when 0 then ended < now() - interval '1 day'
                        when 1 then ended < now() - interval '7 days'
                        when 2 then ended < now() - interval '30 days'
                        else ended < now() - interval '8 days' and (bytes = 0 or detaching or not attached) end
       order by attached and not detaching, name`,

    /** Whether the role may alter the parent; who does not own it drops by {@link dropByOwner}. Always one row. */
    isOwner: sql<[], [isOwner: string]>`
      select pg_has_role(relowner, 'USAGE') from pg_class where oid = '${terminal}'::regclass`,

    /** Counts and drops a partition with the owner's rights. `f`: somebody was in the way, or a row is to be kept. */
    dropByOwner: sql<[name: string], [dropped: string]>`
      select ${new Identifier(schema, 'drop_terminal_partition')}($1)`,

    limitLockWait: sql<[], []>`
      set lock_timeout = '100ms'`,

    /** The statements that drop one partition. */
    dropping(name: string): DropStatements {
      const partition = new Identifier(schema, name)
      return {
        isOutlived: sql`
      select not exists (
               select from ${partition} t left join ${new Identifier(schema, 'queues')} q on q.queue = t.queue
                where t.finalized_at + ${terminalKeep(schema, 't')} * interval '1 millisecond' > now() or ${terminalKeep(schema, 't')} is null
                   or q.policy ->> 'coldArchive' = 'true')`,
        detach: sql`
      alter table ${terminal} detach partition ${partition} concurrently`,
        finalize: sql`
      alter table ${terminal} detach partition ${partition} finalize`,
        count: sql`
      insert into ${new Identifier(schema, 'counters')} (queue, kind, reason, what, n)
      select queue, kind, state, 'expired', count(*) from ${partition} group by queue, kind, state`,
        drop: sql`
      drop table ${partition}`,
      }
    },
  }
}
