import { isSpillwayError } from '../job/errors.js'
import type { Diagnosing, Diagnosis, TableDiagnosis } from '../store/store.js'
import { jobFindings, maintenanceFindings } from './doctor-jobs.js'
import { policyFindings } from './doctor-policies.js'

/** Something worth knowing, and the command that fixes it. */
export interface Finding {
  /** For programs; never renamed. */
  readonly code: string
  /** `error`: jobs are not run, or may be lost. `warning`: it will become one. `info`: nothing is wrong. */
  readonly severity: 'error' | 'warning' | 'info'
  readonly message: string
  /** A command or a setting; null where nothing has to be done. */
  readonly fix: string | null
}

/** What an examination found. */
export interface Doctor {
  /** No errors and no warnings. */
  readonly ok: boolean
  /** Errors first. */
  readonly findings: readonly Finding[]
  /** What it was read from; null where the role may not look. */
  readonly diagnosis: Diagnosis | null
}

const LEAST_VERSION = 150_000
const SKEW_MS = 1_000

/** Looks at a store and judges what is found. */
export async function examine(store: Diagnosing): Promise<Doctor> {
  try {
    const diagnosis = await store.diagnose()
    return doctorOf(findingsOf(diagnosis), diagnosis)
  } catch (error) {
    if (!isSpillwayError(error) || error.code !== 'store_forbidden') throw error
    const finding: Finding = {
      code: 'store_forbidden',
      severity: 'error',
      message: error.message,
      fix: 'spillway roles --sql, and `grant spillway_work to <role>` by who owns the schema',
    }
    return doctorOf([finding], null)
  }
}

/** What is wrong, worst first; and what is good to know. */
export function findingsOf(diagnosis: Diagnosis, now = new Date()): Finding[] {
  const { tables } = diagnosis
  return [
    ...serverFindings(diagnosis),
    ...connectionFindings(diagnosis),
    ...schemaFindings(diagnosis),
    ...(tables === null ? [] : tableFindings(diagnosis, tables, now)),
  ].sort((a, b) => WEIGHT[a.severity] - WEIGHT[b.severity])
}

const WEIGHT = { error: 0, warning: 1, info: 2 } as const

function doctorOf(findings: readonly Finding[], diagnosis: Diagnosis | null): Doctor {
  return { ok: findings.every(({ severity }) => severity === 'info'), findings, diagnosis }
}

function serverFindings({ server, clock }: Diagnosis): Finding[] {
  const found: Finding[] = []
  const { settings } = server
  if (server.versionNumber < LEAST_VERSION) {
    found.push({
      ...{ code: 'server_too_old', severity: 'error', fix: 'upgrade the server to PostgreSQL 15 or newer' },
      message: `the server is PostgreSQL ${server.version}; 15 or newer is needed`,
    })
  }
  if (server.isReplica) {
    found.push({
      ...{
        code: 'server_is_replica',
        severity: 'error',
        fix: 'connect to the primary; a replica goes into --read-url',
      },
      message: 'the server is a replica, which takes no jobs',
    })
  }
  if (settings['fsync'] === 'off' || settings['full_page_writes'] === 'off') {
    found.push({
      ...{ code: 'not_crash_safe', severity: 'error' },
      message: 'the server does not wait for its disk (fsync or full_page_writes is off): a crash may lose everything',
      fix: 'as a superuser: alter system set fsync = on; alter system set full_page_writes = on; select pg_reload_conf()',
    })
  }
  if (settings['synchronous_commit'] === 'off') {
    found.push({
      ...{ code: 'not_durable', severity: 'warning' },
      message: 'synchronous_commit is off: jobs that were accepted may be gone after a crash of the server',
      fix: `as a superuser: alter role ${server.role} set synchronous_commit = on`,
    })
  }
  if (settings['autovacuum'] === 'off') {
    found.push({
      ...{
        code: 'autovacuum_off',
        severity: 'warning',
        fix: 'as a superuser: alter system set autovacuum = on; select pg_reload_conf()',
      },
      message: 'autovacuum is off: dead rows of the dead-letter queue and of finished jobs are never removed',
    })
  }
  if (server.connections > server.maxConnections * 0.9) {
    found.push({
      ...{ code: 'connections_scarce', severity: 'warning' },
      message: `${server.connections} of ${server.maxConnections} connections of the server are taken`,
      fix: 'raise max_connections, or put a pooler in front (docs/how-to/poolers.md)',
    })
  }
  if (Math.abs(clock.skewMs) - clock.roundTripMs / 2 > SKEW_MS) {
    found.push({
      ...{ code: 'clock_skew', severity: 'warning', fix: 'run a time service (chrony, systemd-timesyncd) on both' },
      message: `the clocks of this machine and of the server differ by ${Math.round(Math.abs(clock.skewMs))} ms; the server's decides`,
    })
  }
  return found
}

function connectionFindings({ connection, server }: Diagnosis): Finding[] {
  const { isPooled, keepsNames, hearsNotices } = connection
  if (server.isReplica) return []
  if (isPooled && !hearsNotices) {
    const names = keepsNames ? '' : ', and statements are prepared anew each time'
    return [
      {
        ...{ code: 'transaction_pooler', severity: 'info' },
        message: `there is a transaction pooler in between: workers poll, every 250 ms growing to 2 s when idle${names}`,
        fix: 'give workers a direct url if jobs have to be picked up at once',
      },
    ]
  }
  if (!hearsNotices) {
    return [
      {
        ...{ code: 'notices_unheard', severity: 'warning' },
        message: 'LISTEN hears nothing although the connection is direct: workers poll',
        fix: 'look for a proxy in between, or give workers another url',
      },
    ]
  }
  if (isPooled) {
    return [
      {
        code: 'session_pooler',
        severity: 'info',
        message: 'there is a session pooler in between; all works as without',
        fix: null,
      },
    ]
  }
  return []
}

function schemaFindings({ schema }: Diagnosis): Finding[] {
  const { version, latest, pending } = schema
  if (version > latest) {
    return [
      {
        ...{ code: 'schema_newer', severity: 'error', fix: 'npm install spillway@latest' },
        message: `the schema is at version ${version}, and this program knows ${latest}`,
      },
    ]
  }
  if (pending.length === 0) return []
  const found = version === 0 ? 'there is no schema' : `the schema is at version ${version} of ${latest}`
  return [{ code: 'schema_missing', severity: 'error', message: found, fix: 'spillway migrate' }]
}

function tableFindings({ server }: Diagnosis, tables: TableDiagnosis, now: Date): Finding[] {
  return [
    ...rightFindings(server.role, tables),
    ...horizonFindings(tables),
    ...bloatFindings(tables),
    ...jobFindings(tables),
    ...maintenanceFindings(tables, now),
    ...policyFindings(tables, now),
  ]
}

/** What roles of `spillway roles --sql` lack as well, on purpose. */
const NOT_NEEDED =
  /^(insert|update|delete) on (migrations|queues)$|^(update|delete) on audit_log$| on (tokens|webhooks)$/

function rightFindings(role: string, { lacking }: TableDiagnosis): Finding[] {
  const missing = lacking.filter((it) => !NOT_NEEDED.test(it))
  if (missing.length === 0) return []
  const isReader = missing.every((it) => !it.startsWith('select '))
  const shown = missing.slice(0, 5).join(', ') + (missing.length > 5 ? `, and ${missing.length - 5} more` : '')
  return [
    {
      ...{ code: isReader ? 'role_reads_only' : 'role_lacks_rights', severity: isReader ? 'info' : 'error' },
      message: `role ${role} ${isReader ? 'can look and not act' : 'lacks rights'}: ${shown}`,
      fix: `spillway roles --sql, and \`grant spillway_work to ${role}\` by who owns the schema`,
    },
  ]
}

const HELD_LONG_S = 60
const HELD_TOO_LONG_S = 600
const SLOT_TRANSACTIONS = 1_000_000

function horizonFindings({ measures }: TableDiagnosis): Finding[] {
  return measures.horizon.flatMap((it): Finding[] => {
    const forSeconds = it.seconds ?? 0
    if (it.holder === 'replication slot' ? it.transactions < SLOT_TRANSACTIONS : forSeconds < HELD_LONG_S) return []
    const since = it.queryStartedAt === null ? '' : `, its last query began ${it.queryStartedAt.toISOString()}`
    const who = [it.application ?? it.name, it.role && `role ${it.role}`].filter(Boolean).join(', ')
    const held = it.holder === 'replication slot' ? `${it.transactions} transactions` : `${Math.round(forSeconds)} s`
    return [
      {
        code: 'horizon_held',
        severity: forSeconds >= HELD_TOO_LONG_S || it.holder !== 'session' ? 'error' : 'warning',
        message: `${it.holder}${it.pid === null ? '' : ` ${it.pid}`} (${who || 'no name'}) has kept dead rows from being removed for ${held}${since}`,
        fix: FIXES[it.holder](it.pid, it.name),
      },
    ]
  })
}

const FIXES = {
  session: (pid) =>
    `end it: select pg_terminate_backend(${pid}); and set idle_in_transaction_session_timeout for its role`,
  'replication slot': (_pid, name) => `where its consumer is gone for good: select pg_drop_replication_slot('${name}')`,
  'prepared transaction': (_pid, name) => `rollback prepared '${name}'`,
} as const satisfies Record<string, (pid: number | null, name: string | null) => string>

function bloatFindings({ bloat }: TableDiagnosis): Finding[] {
  return bloat.map(({ table, deadRows, liveRows, vacuumedAt }) => ({
    ...{ code: 'bloat', severity: 'warning', fix: `vacuum (analyze) spillway.${table}` },
    message: `${table} has ${deadRows} dead rows beside ${liveRows} living ones; last vacuumed ${vacuumedAt?.toISOString() ?? 'never'}`,
  }))
}
