/** How long a signal may be the echo of the one before: npm passes on what the terminal has sent already. */
const ECHO_MS = 1_000

/**
 * Waits for SIGINT or SIGTERM, or for `other`. A second signal, more than a second later, ends the process at once.
 *
 * @returns which came first; undefined for `other`.
 */
export function stopSignal(other: Promise<unknown>): Promise<NodeJS.Signals | undefined> {
  return new Promise((resolve) => {
    let firstAt: number | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      if (firstAt !== undefined && performance.now() - firstAt > ECHO_MS) process.exit(signal === 'SIGINT' ? 130 : 143)
      firstAt ??= performance.now()
      resolve(signal)
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
    void other.then(() => resolve(undefined))
  })
}
