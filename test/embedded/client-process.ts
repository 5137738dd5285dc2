import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** What a client process got from `startEmbedded`. */
export interface Answer {
  url: string
  started: boolean
  notices: string[]
  error?: string
  code?: string
}

/** A real process that calls `startEmbedded`. */
export interface ClientProcess {
  readonly child: ChildProcess
  readonly answer: Promise<Answer>
  /** Lets it release and end. */
  leave(): Promise<void>
  /** Ends it without a chance to do anything. */
  kill(): Promise<void>
}

/** Starts a process that calls `startEmbedded({ dir })` of the compiled module. */
export function clientProcess(moduleUrl: string, dir: string, options: SpawnOptions = {}): ClientProcess {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'client.mjs'), moduleUrl, dir], {
    ...options,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  return {
    child,
    answer: firstLine(child).then((line) => JSON.parse(line) as Answer),
    async leave() {
      child.stdin?.end()
      await exited
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the client process has no output')
  for await (const line of createInterface(child.stdout)) return line
  throw new Error(`the client process ended (${child.exitCode ?? child.signalCode}) without an answer`)
}
