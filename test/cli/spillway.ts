import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandLine {
  /** Runs `spillway` with these words, and waits for its end. */
  (...words: string[]): Promise<Ran>
  /** The same with `--json`, and what its one document says. */
  json(...words: string[]): Promise<Ran & { readonly document: never }>
  /** Starts it and does not wait; what it prints comes line by line. */
  start(...words: string[]): Running
}

export interface Running {
  /** Resolves with the first line, from now or before, that matches. */
  line(matching: RegExp): Promise<string>
  /** The same of what it says on stderr. */
  note(matching: RegExp): Promise<string>
  kill(signal: NodeJS.Signals): void
  /** Nobody reads it any more, as when the other end of a pipe goes away. */
  hangUp(stream: 'stdout' | 'stderr'): void
  readonly done: Promise<Ran>
}

/** The built command line, as a user's shell would start it: in a pipe, on the database at `url`. */
export function commandLine(
  url: string | undefined,
  options: { readonly cwd?: string; readonly input?: string } = {},
): CommandLine {
  const start = (...words: string[]) => new Process(words, url, options)
  const run = (...words: string[]) => start(...words).done
  return Object.assign(run, {
    start,
    async json(...words: string[]) {
      const ran = await run(...words, '--json')
      return { ...ran, document: JSON.parse(ran.stdout) as never }
    },
  })
}

class Process implements Running {
  readonly done: Promise<Ran>
  private readonly child
  private stdout = ''
  private stderr = ''
  private waiting: (() => void)[] = []

  constructor(words: string[], url: string | undefined, { cwd, input }: { cwd?: string; input?: string }) {
    const { DATABASE_URL: _, NO_COLOR: __, FORCE_COLOR: ___, ...env } = process.env
    this.child = spawn(process.execPath, [MAIN, ...words], {
      env: url === undefined ? env : { ...env, DATABASE_URL: url },
      ...(cwd === undefined ? {} : { cwd }),
    })
    this.child.stdin.end(input ?? '')
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
      for (const look of this.waiting) look()
    })
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
      for (const look of this.waiting) look()
    })
    this.done = new Promise((resolve, reject) => {
      this.child.on('error', reject)
      this.child.on('close', (code) => resolve({ code, stdout: this.stdout, stderr: this.stderr }))
    })
  }

  line(matching: RegExp): Promise<string> {
    return this.found(matching, () => this.stdout)
  }

  note(matching: RegExp): Promise<string> {
    return this.found(matching, () => this.stderr)
  }

  private found(matching: RegExp, said: () => string): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = said()
          .split('\n')
          .find((line) => matching.test(line))
        if (found !== undefined) resolve(found)
      }
      this.waiting.push(look)
      look()
      void this.done.then(
        ({ stdout, stderr }) => reject(new Error(`it ended without ${matching}:\n${stdout}${stderr}`)),
        reject,
      )
    })
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  hangUp(stream: 'stdout' | 'stderr'): void {
    this.child[stream].destroy()
  }
}
