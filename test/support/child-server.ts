import type { ChildProcess } from 'node:child_process'

/** Tells a server that a test started to stop, and waits until it has. */
export async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  if (child.exitCode === null && child.signalCode === null) await exited
}
