import type { TableDiagnosis } from '../store/store.js'
import type { Finding } from './doctor.js'

/** Jobs may wait so long before anybody has to look. */
const PATIENCE_S = 60
const LATE_S = 600
/** A duty that works says so every ten minutes. */
const DUTY_SILENT_MS = 30 * 60_000
const DUE_LATE_S = 30
const WORTH_TELLING = 10

/** Jobs nobody runs, queues that grow, dead letters that come or go. */
export function jobFindings(tables: TableDiagnosis): Finding[] {
  return [...waitingFindings(tables), ...flowFindings(tables), ...expiringFindings(tables), ...leaseFindings(tables)]
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

function expiringFindings({ expiring }: TableDiagnosis): Finding[] {
  return expiring.map(({ queue, n, firstAt }) => ({
    ...{ code: 'dlq_expiring', severity: 'warning' },
    message: `retention deletes ${n} dead letters of queue ${queue} within 3 days, the first at ${firstAt.toISOString()}`,
    fix: `spillway dlq export --queue ${queue}, or spillway queues set ${queue} --dlq-retention 90d`,
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
  for (const { duty, lastSuccessAt, lastErrorAt, lastError } of measures.duties) {
    const isFailing = lastErrorAt !== null && (lastSuccessAt === null || lastErrorAt > lastSuccessAt)
    const isSilent =
      measures.isLed && lastSuccessAt !== null && now.getTime() - lastSuccessAt.getTime() > DUTY_SILENT_MS
    if (isFailing) {
      found.push({
        ...{ code: 'duty_failing', severity: 'error', fix: `look at the \`error\` events of the workers for ${duty}` },
        message: `duty ${duty} fails since ${lastErrorAt.toISOString()}: ${lastError ?? 'no reason given'}`,
      })
    } else if (isSilent && ON_SCHEDULE.has(duty)) {
      found.push({
        ...{ code: 'duty_late', severity: 'warning', fix: 'restart the worker that leads' },
        message: `duty ${duty} last succeeded at ${lastSuccessAt.toISOString()}`,
      })
    }
  }
  return found
}

/** Duties that run whether or not there is anything to do. */
const ON_SCHEDULE: ReadonlySet<string> = new Set(['rescue', 'retain', 'retain_dlq', 'retain_held', 'forget'])
