import { DUTIES, type DutyName, isDuty } from '../job/duties.js'
import type { TableDiagnosis } from '../store/store.js'
import type { Finding } from './doctor.js'

/** Jobs may wait so long before anybody has to look. */
const PATIENCE_S = 60
const LATE_S = 600
/** No pass of a duty takes so long: each is a few bounded statements. */
const HANGS_S = 300
/** A brake somebody forgot. */
const PAUSED_LONG_MS = 3_600_000
/** After how long without a success a duty is late, of those that run whether or not there is anything to do. */
const SILENT_MS: Partial<Record<DutyName, number>> = {
  ...{ rescue: 300_000, unserved: 300_000, rings: 300_000, evict: 300_000 },
  ...{ retain: 300_000, retain_dlq: 300_000, retain_held: 300_000, forget: 300_000, partitions: 3 * 3_600_000 },
}
const DUE_LATE_S = 30
const WORTH_TELLING = 10

/** Jobs nobody runs, queues that grow, dead letters that come or go. */
export function jobFindings(tables: TableDiagnosis): Finding[] {
  return [
    ...waitingFindings(tables),
    ...flowFindings(tables),
    ...expiringFindings(tables),
    ...heldFindings(tables),
    ...leaseFindings(tables),
  ]
}

function waitingFindings({ waiting, measures }: TableDiagnosis): Finding[] {
  const paused = new Set(measures.pausedQueues)
  return waiting.flatMap(({ queue, kind, version, n, oldestSeconds, hasWorker, isServed }): Finding[] => {
    const what = `${n} ${n === 1 ? 'job' : 'jobs'} of kind ${kind} (version ${version})`
    const waits = n === 1 ? 'waits' : 'wait'
    const wait = `the oldest for ${Math.round(oldestSeconds)} s`
    if (paused.has(queue)) return []
    if (!hasWorker) {
      return [
        {
          ...{ code: 'no_worker', severity: oldestSeconds > PATIENCE_S ? 'error' : 'warning' },
          message: `${what} ${waits} in queue ${queue}, ${wait}, and no living worker takes that queue`,
          fix: `start a worker whose \`queues\` names ${queue}: spillway work MODULE`,
        },
      ]
    }
    if (!isServed) {
      return [
        {
          ...{ code: 'kind_unserved', severity: 'error' },
          message: `${what} ${waits} in queue ${queue}, ${wait}, and no worker of the queue runs this kind and version`,
          fix: `deploy a worker with a handler for ${kind} version ${version}; until then its jobs wait, and are given up as no_handler after the \`--unserved-after\` of \`spillway queues get ${queue}\``,
        },
      ]
    }
    if (oldestSeconds < PATIENCE_S) return []
    return [
      {
        ...{ code: 'queue_behind', severity: oldestSeconds > LATE_S ? 'error' : 'warning' },
        message: `queue ${queue} falls behind: ${what} wait, ${wait}, although workers serve them`,
        fix: `raise \`concurrency\` of ${queue}, or start another worker`,
      },
    ]
  })
}

function flowFindings({ flows }: TableDiagnosis): Finding[] {
  return flows.flatMap(({ queue, arrived, departed, arrivedBefore }): Finding[] => {
    const usual = arrivedBefore / 24
    if (arrived - departed < WORTH_TELLING || arrived < 2 * usual) return []
    return [
      {
        ...{ code: 'dlq_growing', severity: 'warning', fix: `spillway dlq groups --queue ${queue}` },
        message: `${arrived} jobs of queue ${queue} died within an hour, usually ${Math.round(usual)}; ${departed} dead letters left`,
      },
    ]
  })
}

function expiringFindings({ measures }: TableDiagnosis): Finding[] {
  return measures.expiring.map(({ queue, n, firstAt }) => ({
    ...{ code: 'dlq_expiring', severity: 'warning' },
    message: `retention deletes ${n} dead letters of queue ${queue} within 3 days, the first at ${firstAt.toISOString()}`,
    fix: `spillway dlq export --queue ${queue}, or spillway queues set ${queue} --dlq-retention 90d`,
  }))
}

function heldFindings({ held }: TableDiagnosis): Finding[] {
  return held.map(({ queue, state, n, firstAt }) => ({
    ...{ code: 'held_long', severity: 'warning' },
    message: `${n} ${state} jobs of queue ${queue} have been held for 30 days and more, the first since ${firstAt.toISOString()}; nothing deletes them by itself`,
    fix:
      state === 'quarantined'
        ? 'spillway quarantine list, then `quarantine release` or `jobs purge`'
        : 'spillway undecodable check, then `undecodable release` or `jobs purge`',
  }))
}

function leaseFindings({ measures }: TableDiagnosis): Finding[] {
  if (measures.expiredLeases === 0) return []
  return [
    {
      ...{ code: 'leases_expired', severity: measures.isLed ? 'warning' : 'error' },
      message: `${measures.expiredLeases} jobs are leased to workers that are gone or silent`,
      fix: measures.isLed
        ? 'nothing: they are taken back within a minute; `spillway workers list` shows who is silent'
        : 'start a worker: it takes them back',
    },
  ]
}

/** Whether what has to happen in the background happens. */
export function maintenanceFindings({ measures, queues }: TableDiagnosis, now: Date): Finding[] {
  const found: Finding[] = []
  const isUsed = queues.length > 0
  if (!measures.isLed && isUsed) {
    found.push({
      ...{ code: 'nobody_leads', severity: measures.dueLagSeconds > DUE_LATE_S ? 'error' : 'warning' },
      message:
        'no process does the maintenance: due jobs do not become available, jobs of dead workers are not taken back',
      fix: 'start a worker; any that is not made with `maintenance: false` does it',
    })
  }
  if (measures.isLed && measures.dueLagSeconds > DUE_LATE_S) {
    found.push({
      ...{ code: 'promotion_late', severity: 'error', fix: 'look at `error` events of the worker that leads' },
      message: `a job has been due for ${Math.round(measures.dueLagSeconds)} s and is not available`,
    })
  }
  for (const duty of measures.duties) found.push(...dutyFindings(duty, measures.isLed, now))
  return found
}

type Duty = TableDiagnosis['measures']['duties'][number]

function dutyFindings(it: Duty, isLed: boolean, now: Date): Finding[] {
  const { duty, lastSuccessAt, lastErrorAt, lastError, underWaySeconds } = it
  if (it.pausedAt !== null) return [pausedFinding(duty, it, it.pausedAt, now)]
  if (lastErrorAt !== null && (lastSuccessAt === null || lastErrorAt > lastSuccessAt)) {
    return [
      {
        ...{ code: 'duty_failing', severity: 'error', fix: `look at the \`error\` events of the workers for ${duty}` },
        message: `duty ${duty} fails since ${lastErrorAt.toISOString()}: ${lastError ?? 'no reason given'}`,
      },
    ]
  }
  if (underWaySeconds !== null && underWaySeconds > HANGS_S) {
    return [
      {
        ...{ code: 'duty_hangs', severity: 'error', fix: 'restart the worker that leads; another takes over' },
        message: `duty ${duty} has been in one pass for ${Math.round(underWaySeconds)} s`,
      },
    ]
  }
  const silentMs = isDuty(duty) ? SILENT_MS[duty] : undefined
  if (!isLed || lastSuccessAt === null || silentMs === undefined) return []
  if (now.getTime() - lastSuccessAt.getTime() <= silentMs) return []
  return [
    {
      ...{ code: 'duty_late', severity: 'warning', fix: 'restart the worker that leads; another takes over' },
      message: `duty ${duty} last succeeded at ${lastSuccessAt.toISOString()}`,
    },
  ]
}

function pausedFinding(duty: string, { pausedBy, pausedReason }: Duty, pausedAt: Date, now: Date): Finding {
  const isLong = now.getTime() - pausedAt.getTime() > PAUSED_LONG_MS
  const reason = pausedReason === null ? '' : ` (${pausedReason})`
  const does = isDuty(duty) ? `: it ${DUTIES[duty]}` : ''
  return {
    ...{ code: 'duty_paused', severity: isLong ? 'warning' : 'info', fix: `spillway duties resume ${duty}` },
    message: `duty ${duty} is paused by ${pausedBy ?? 'nobody named'} since ${pausedAt.toISOString()}${reason}${does}`,
  }
}
