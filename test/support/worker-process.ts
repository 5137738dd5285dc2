import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Signal, signal, type WaitOptions } from 'spillway/testing'
import { afterAll } from 'vitest'

const PROGRAM = fileURLToPath(new URL('./worker-program.mjs', import.meta.url))
const BUILT = fileURLToPath(new URL('../../dist/index.js', import.meta.url))

export interface WorkerProcessOptions {
  readonly url: string
  /** Default: `default`. */
  readonly queue?: string
  readonly concurrency?: number
  /** Ms. Default: 200, and 3 times that. */
  readonly heartbeat?: number
  readonly stale?: number
  readonly poll?: number
  /** Ms that a SIGTERM leaves to running handlers, before and after their signals abort. Default: 1,000 and 500. */
  readonly grace?: number
  readonly abort?: number
  /** Whether each start of a handler is told, for {@link WorkerProcess.started}. Default: false. */
  readonly announce?: boolean
  /** Whether it kills itself as soon as it has committed a death, also one of a sweep. Default: false. */
  readonly dieOnDeath?: boolean
  /** Whether a second worker runs in it, on the queue of that name with `-twin` behind it. Default: false. */
  readonly twin?: boolean
  /** MiB its JavaScript may use. Default: what Node thinks right. */
  readonly memory?: number
}

export interface WorkerProcess {
  readonly pid: number
  /** Ids of jobs whose handler was entered; only with `announce`. */
  readonly started: Signal<string>
  /** Ids of jobs whose lease was gone when the attempt ended. */
  readonly lost: Signal<string>
  readonly registered: Signal<string>
  /** What its background services complained of. */
  readonly troubles: readonly string[]
  readonly isAlive: boolean
  /** What it wrote on stderr. */
  readonly stderr: () => string
  /** Resolves when it takes jobs. */
  ready(options?: WaitOptions): Promise<void>
  /** Lets a handler that holds go on to its end. */
  release(id: string): void
  /** Sends a signal, and for SIGKILL and SIGTERM waits for the end. */
  kill(name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): Promise<void>
  /** Resolves when the process has ended, with its exit code or signal. */
  readonly exited: Promise<number | string>
}

/** One entry or leaving of a handler, as the process noted it before it could be killed. */
export interface Noted {
  readonly what: 'start' | 'end'
  readonly id: string
  readonly leaseId: string
  readonly pid: number
}

export interface WorkerProcesses {
  /** Starts one; it may not be ready yet. */
  spawn(options: WorkerProcessOptions): WorkerProcess
  /** Starts one and waits until it takes jobs. */
  start(options: WorkerProcessOptions): Promise<WorkerProcess>
  /** What all of them noted, in order; `SIGKILL` loses none of it. */
  noted(): readonly Noted[]
  /** Tokens of the callbacks their handlers made, in order. */
  tokens(): readonly string[]
  /** Kills every one that still runs, and forgets what they noted. */
  killAll(): Promise<void>
}

/** Worker processes for the file or `describe` that calls this; none survives it. */
export function workerProcesses(): WorkerProcesses {
  if (!existsSync(BUILT)) throw new Error('the tests that kill processes run dist/: `npm run build` first')
  const folder = mkdtempSync(join(tmpdir(), 'spillway-workers-'))
  const running = new Set<WorkerProcess>()
  let log = join(folder, 'noted-0')
  let logs = 0

  const killAll = async () => {
    await Promise.all([...running].map((worker) => worker.kill('SIGKILL')))
    log = join(folder, `noted-${++logs}`)
  }
  afterAll(async () => {
    await killAll()
    rmSync(folder, { recursive: true, force: true })
  })

  const spawn = (options: WorkerProcessOptions): WorkerProcess => {
    const worker = forkWorker(options, log)
    running.add(worker)
    void worker.exited.then(() => running.delete(worker))
    return worker
  }
  return {
    spawn,
    async start(options) {
      const worker = spawn(options)
      await worker.ready()
      return worker
    },
    noted: () =>
      lines(log)
        .filter((line) => !line.startsWith('token '))
        .map(parseNote),
    tokens: () => lines(log).flatMap((line) => (line.startsWith('token ') ? [line.split(' ')[2] as string] : [])),
    killAll,
  }
}

function lines(log: string): string[] {
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []
}

function parseNote(line: string): Noted {
  const [what, id, leaseId, pid] = line.split(' ') as ['start' | 'end', string, string, string]
  return { what, id, leaseId, pid: Number(pid) }
}

function forkWorker(options: WorkerProcessOptions, log: string): WorkerProcess {
  const { heartbeat = 200 } = options
  const settings = {
    queue: 'default',
    concurrency: 10,
    stale: heartbeat * 3,
    grace: 1_000,
    abort: 500,
    announce: false,
    ...options,
    heartbeat,
    log,
  }
  const child = fork(PROGRAM, [JSON.stringify(settings)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: options.memory === undefined ? [] : [`--max-old-space-size=${options.memory}`],
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const exited = new Promise<number | string>((resolve) =>
    child.once('exit', (code, name) => resolve(name ?? code ?? 'unknown')),
  )
  const heard = {
    ready: patient(signal('a worker process')),
    started: patient(signal<string>('the start of a handler')),
    lost: patient(signal<string>('the loss of a lease')),
    registered: patient(signal<string>('a registration')),
  }
  const troubles: string[] = []
  child.on('message', ({ type, id = '' }: { type: string; id?: string }) => {
    if (type === 'ready') heard.ready.fire()
    else if (type === 'trouble') troubles.push(id)
    else if (type === 'started' || type === 'lost' || type === 'registered') heard[type].fire(id)
  })

  return {
    pid: child.pid as number,
    started: heard.started,
    lost: heard.lost,
    registered: heard.registered,
    troubles,
    exited,
    stderr: () => stderr,
    get isAlive() {
      return child.exitCode === null && child.signalCode === null
    },
    async ready(wait) {
      const ended = exited.then((how) => {
        throw new Error(`the worker process ended with ${how} before it was ready:\n${stderr}`)
      })
      await Promise.race([heard.ready.next(wait), ended])
    },
    release: (id) => void child.send({ type: 'release', id }),
    async kill(name) {
      child.kill(name)
      // A stopped process gets nothing but SIGKILL and SIGCONT.
      if (name === 'SIGKILL' || name === 'SIGTERM') await exitOf(child, exited)
    },
  }
}

/** A process of its own needs time to get up, and more on a busy machine. */
function patient<T>(heard: Signal<T>): Signal<T> {
  return {
    fire: heard.fire,
    next: (wait) => heard.next({ within: '30s', ...wait }),
    get count() {
      return heard.count
    },
  }
}

async function exitOf(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await exited
}
