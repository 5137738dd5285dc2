import type { Worker, WorkerEvents } from '../index.js'
import type { Output } from './output.js'
import { oneLine, span } from './shown.js'

type Job = WorkerEvents['started'][0]['job']

/** Prints what a worker tells: a line each, or with `--json` a document each. Payloads are never printed. */
export function printEvents(worker: Worker, out: Output, isVerbose: boolean): void {
  const { red, yellow, green, dim, bold } = out.colors
  const print = (event: string, colored: string, said: string, fields: object) => {
    const at = new Date()
    if (out.isJson) return out.record({ at, event, ...fields })
    const time = out.isTerminal ? at.toTimeString().slice(0, 8) : at.toISOString()
    out.line(`${dim(time)}  ${colored}  ${said}`.trimEnd())
  }
  const about = (job: Job) => ({
    id: job.id,
    kind: job.kind,
    queue: job.queue,
    attempt: job.attempt,
    generation: job.generation,
  })
  const of = (job: Job) => `${bold(job.id)} ${oneLine(job.kind, 40)} ${dim(`(${oneLine(job.queue, 40)})`)}`

  if (isVerbose) worker.on('started', ({ job }) => print('started', 'started', of(job), about(job)))
  worker.on('registered', ({ registration }) =>
    print('registered', 'registered', `as ${worker.name}`, { registration, worker: worker.name }),
  )
  worker.on('completed', ({ job, durationMs }) =>
    print('completed', green('completed'), `${of(job)} in ${span(durationMs)}`, { ...about(job), durationMs }),
  )
  worker.on('retrying', ({ job, delayMs, message }) =>
    print('retrying', yellow('retrying'), `${of(job)} in ${span(delayMs)}: ${oneLine(message, 200)}`, {
      ...{ ...about(job), delayMs, message },
    }),
  )
  worker.on('died', ({ job, reason, message, state }) =>
    print('died', red('died'), `${of(job)} ${state}: ${oneLine([reason, message].filter(Boolean).join(': '), 200)}`, {
      ...{ ...about(job), state, reason, message },
    }),
  )
  worker.on('snoozed', ({ job, delayMs }) =>
    print('snoozed', 'snoozed', `${of(job)} for ${span(delayMs)}`, { ...about(job), delayMs }),
  )
  worker.on('waiting', ({ job, callback }) =>
    print('waiting', yellow('waiting'), `${of(job)} for callback ${oneLine(callback, 60)}`, {
      ...about(job),
      callback,
    }),
  )
  worker.on('parked', ({ job, reason }) =>
    print('parked', yellow('parked'), `${of(job)}: ${oneLine(reason, 200)}`, { ...about(job), reason }),
  )
  worker.on('lost', ({ job, why }) =>
    print('lost', yellow('lost'), `${of(job)}: ${oneLine(why, 200)}`, { ...about(job), why }),
  )
  worker.on('handedBack', ({ job }) => print('handed_back', 'handed back', of(job), about(job)))
  worker.on('stuck', ({ slots, of: all }) =>
    print('stuck', red('stuck'), `${slots} of ${all} slots are held by handlers that ignore their signal`, {
      slots,
      of: all,
    }),
  )
  worker.on('error', ({ service, error }) => {
    const message = error instanceof Error ? error.message : String(error)
    print('error', red('error'), `${service}: ${oneLine(message, 300)}`, { service, message })
  })
  worker.on('stopped', () => print('stopped', 'stopped', '', {}))
}
