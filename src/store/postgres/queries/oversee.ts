import { Identifier, sql } from '../sql.js'
import { toldSuccesses } from './leaders.js'
import type { ActParams } from './operate.js'

export type DutyRow = [
  duty: string,
  lastSuccessAtMs: string | null,
  lastError: string | null,
  lastErrorAtMs: string | null,
  failures: string,
  pausedAtMs: string | null,
  pausedBy: string | null,
  pausedReason: string | null,
]

export type RingRow = [
  ring: 'ready' | 'leases',
  head: string,
  rotatedAtMs: string,
  rotateRows: string,
  rotateMs: string,
]

/** Background work: how it fares, its brakes and its limits. Few rows; every change tells every process. */
export function overseeQueries(schema: string) {
  const table = (name: string) => new Identifier(schema, name)
  const duties = table('duties')
  const rings = table('ring_state')
  const audit = table('audit_log')

  return {
    duties: sql<[], DutyRow>`
      select d.duty, date_part('epoch', greatest(d.last_success_at, told.at)) * 1000, d.last_error,
             date_part('epoch', d.last_error_at) * 1000, d.failures,
             date_part('epoch', d.paused_at) * 1000, d.paused_by, d.paused_reason
        from ${duties} d
        left join ${toldSuccesses(schema)} as told on told.duty = d.duty`,

    /** No process begins another pass of it. Paused again it keeps the time of the first. */
    pause: sql<[duty: string, ...ActParams], [...DutyRow, notified: string]>`
      with changed as (
        insert into ${duties} as d (duty, paused_at, paused_by, paused_reason)
        values ($1, now(), $2, $3)
            on conflict (duty) do update
           set paused_at = coalesce(d.paused_at, now()), paused_by = $2, paused_reason = $3
        returning d.duty, d.last_success_at, d.last_error, d.last_error_at, d.failures, d.paused_at, d.paused_by, d.paused_reason
      ),
      versioned as (
        update ${table('control')} set policy_version = policy_version + 1 where exists (select from changed)
      ),
      audited as (
        insert into ${audit} (actor, action, target, reason, result, request_id)
        select $2, 'pause_duty', json_build_object('duty', duty), $3, json_build_object('paused', true), $4 from changed
      )
      select duty, date_part('epoch', last_success_at) * 1000, last_error, date_part('epoch', last_error_at) * 1000, failures,
             date_part('epoch', paused_at) * 1000, paused_by, paused_reason, pg_notify($5, 'p')
        from changed`,

    /** Its passes go on. */
    resume: sql<[duty: string, ...ActParams], [...DutyRow, notified: string]>`
      with changed as (
        insert into ${duties} as d (duty)
        values ($1)
            on conflict (duty) do update set paused_at = null, paused_by = null, paused_reason = null
        returning d.duty, d.last_success_at, d.last_error, d.last_error_at, d.failures, d.paused_at, d.paused_by, d.paused_reason
      ),
      versioned as (
        update ${table('control')} set policy_version = policy_version + 1 where exists (select from changed)
      ),
      audited as (
        insert into ${audit} (actor, action, target, reason, result, request_id)
        select $2, 'resume_duty', json_build_object('duty', duty), $3, json_build_object('paused', false), $4 from changed
      )
      select duty, date_part('epoch', last_success_at) * 1000, last_error, date_part('epoch', last_error_at) * 1000, failures,
             date_part('epoch', paused_at) * 1000, paused_by, paused_reason, pg_notify($5, 'p')
        from changed`,

    rings: sql<[], RingRow>`
      select ring, head, date_part('epoch', rotated_at) * 1000, rotate_rows, rotate_ms from ${rings} order by ring desc`,

    /** When the slots of a ring are left; null keeps what is set. Read with every look at the rings. */
    setRing: sql<
      [ring: string, ...ActParams, rotateRows: number | null, rotateMs: number | null],
      [...RingRow, notified: string]
    >`
      with changed as (
        update ${rings}
           set rotate_rows = coalesce($6::integer, rotate_rows), rotate_ms = coalesce($7::integer, rotate_ms)
         where ring = $1
        returning ring, head, rotated_at, rotate_rows, rotate_ms
      ),
      versioned as (
        update ${table('control')} set policy_version = policy_version + 1 where exists (select from changed)
      ),
      audited as (
        insert into ${audit} (actor, action, target, reason, result, request_id)
        select $2, 'set_ring', json_build_object('ring', ring), $3,
               json_build_object('rotate_rows', rotate_rows, 'rotate_ms', rotate_ms), $4
          from changed
      )
      select ring, head, date_part('epoch', rotated_at) * 1000, rotate_rows, rotate_ms, pg_notify($5, 'p')
        from changed`,
  }
}
