import { type JobHandler, kindsOf } from '../job/definition.js'
import { jsonSchemaOf } from '../job/json-schema.js'
import { servedVersions } from '../job/versions.js'
import type { Served, WorkerInfo } from '../store/store.js'
import type { ProcessIdentity } from './host.js'
import type { WorkerTerms } from './worker-options.js'

/** What a worker says about itself when it registers. */
export function infoOf(
  identity: ProcessIdentity,
  name: string,
  { handlers, slots }: WorkerTerms,
  jobs: readonly JobHandler[],
): WorkerInfo {
  const serves: Served[] = [...handlers].flatMap(([kind, { definition }]) =>
    servedVersions(definition).map((version) => ({ kind, version })),
  )
  return {
    ...identity,
    name,
    queues: slots.map(({ queue }) => queue),
    serves,
    deathTxKinds: jobs.flatMap(({ definition }) => (definition.onDeathTx ? kindsOf(definition) : [])),
    concurrency: slots.reduce((sum, { concurrency }) => sum + concurrency, 0),
    version: process.version,
    schemas: publishedBy(handlers),
  }
}

/** Read once by each worker: a schema may take long to be written down. */
function publishedBy(handlers: ReadonlyMap<string, JobHandler>): NonNullable<WorkerInfo['schemas']> {
  const entries = [...handlers].flatMap(([kind, { definition }]) => {
    const schema = jsonSchemaOf(definition.schema)
    return schema === null ? [] : [[kind, { version: definition.version, schema }] as const]
  })
  return Object.fromEntries(entries)
}
