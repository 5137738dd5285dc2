import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type JobHandler, SpillwayError, type WorkerOptions } from '../index.js'

/**
 * Loads a worker module: its default export is `{ queues, jobs, onDeath? }`.
 *
 * @param name - A file, seen from the current folder, or a package.
 * @throws `invalid_option` where it cannot be loaded or exports something else.
 */
export async function loadWorker(name: string): Promise<WorkerOptions> {
  const file = resolve(name)
  const isFile = existsSync(file)
  if (!isFile && /^[./]|\.[cm]?[jt]s$/.test(name)) throw refused(name, 'there is no such file')
  let loaded: { default?: unknown }
  try {
    loaded = (await import(isFile ? pathToFileURL(file).href : name)) as { default?: unknown }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const help =
      code === 'ERR_UNKNOWN_FILE_EXTENSION' ? 'this Node.js does not run it as it is; build it first' : message
    throw new SpillwayError('invalid_option', `cannot load ${name}: ${help}`, { cause: error })
  }
  return checked(name, loaded.default)
}

function checked(name: string, config: unknown): WorkerOptions {
  if (typeof config !== 'object' || config === null) {
    throw refused(name, 'its default export is missing or no object')
  }
  const { queues, jobs } = config as Partial<WorkerOptions>
  if (typeof queues !== 'object' || queues === null) throw refused(name, 'its `queues` are missing or no object')
  if (!Array.isArray(jobs) || !jobs.every(isHandler)) {
    throw refused(name, 'its `jobs` are no list of `definition.handle(…)`')
  }
  return config as WorkerOptions
}

function isHandler(job: unknown): job is JobHandler {
  return typeof job === 'object' && job !== null && 'run' in job && 'definition' in job
}

function refused(name: string, problem: string): SpillwayError {
  return new SpillwayError(
    'invalid_option',
    `cannot work with ${name}: ${problem}; a worker module says \`export default { queues, jobs: [definition.handle(…)] }\``,
  )
}
