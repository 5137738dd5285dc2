import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What a process of the benchmark can be asked to do. Arguments and answers travel as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: only the shape matters here; each process names its own types.
export type Methods = Record<string, (...args: any[]) => unknown>

/** The same methods, seen from the process that started it. */
export type Remote<T extends Methods> = {
  [Name in keyof T]: (...args: Parameters<T[Name]>) => Promise<Awaited<ReturnType<T[Name]>>>
} & {
  readonly end: () => Promise<void>
  /** Kills it as the system would; resolves when it is gone. */
  readonly kill: () => Promise<void>
}

interface Call {
  id: number
  method: string
  args: unknown[]
}

interface Answer {
  id: number
  value?: unknown
  error?: string
}

/** To be called by the process that was started: answers its parent, and ends when the parent is gone. */
export function serve(methods: Methods): void {
  const answer = async ({ id, method, args }: Call): Promise<Answer> => {
    try {
      return { id, value: await methods[method]?.(...args) }
    } catch (error) {
      return { id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    }
  }
  process.on('message', (call: Call) => void answer(call).then((it) => process.send?.(it)))
  process.on('disconnect', () => process.exit())
}

/**
 * Starts a file of this folder as a process of its own.
 *
 * @param file - Name of the file, as in `worker-process.js`.
 * @param flags - Options for Node.js, such as `--cpu-prof`.
 */
export function spawn<T extends Methods>(file: string, flags: readonly string[] = [], execPath?: string): Remote<T> {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const child = fork(path, [], { execArgv: [...flags], ...(execPath ? { execPath } : {}) })
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let last = 0

  child.on('message', ({ id, value, error }: Answer) => {
    const call = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) call?.resolve(value)
    else call?.reject(new Error(`${file}: ${error}`))
  })
  child.on('exit', (code, signal) => {
    for (const call of waiting.values())
      call.reject(new Error(`${file} ended with ${code ?? signal} while it was asked`))
    waiting.clear()
  })

  const ask = (method: string, args: unknown[]) =>
    new Promise((resolve, reject) => {
      const id = ++last
      waiting.set(id, { resolve, reject })
      child.send({ id, method, args } satisfies Call)
    })

  return new Proxy({} as Remote<T>, {
    get: (_, name: string) => {
      // A proxy that has `then` would be taken for a promise.
      if (name === 'then') return undefined
      if (name === 'end') return () => ended(child)
      if (name === 'kill') return () => killed(child)
      return (...args: unknown[]) => ask(name, args)
    },
  })
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.disconnect()
  })
}

function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
}
