import { SpillwayError } from '../job/errors.js'
import { checkAgainst, type SchemaIssue } from '../job/json-schema.js'
import { decodePayload } from '../job/payload.js'
import type { Inspecting, Serving } from '../store/store.js'

/** What a published schema says of a payload; undefined where nobody publishes one that can tell. */
export type PayloadIssues = readonly SchemaIssue[] | undefined

/** Asks the JSON Schema that workers publish for the kind. One of another version of its payloads says nothing. */
export async function issuesOf(
  store: Pick<Serving, 'publishedSchema'>,
  { kind, version }: { readonly kind: string; readonly version: number },
  payload: string,
): Promise<PayloadIssues> {
  const published = await store.publishedSchema(kind)
  if (published === undefined || published.version !== version) return undefined
  const read = decodePayload(payload, { bigint: true })
  return read.ok ? checkAgainst(JSON.parse(published.schema), read.value) : undefined
}

/**
 * Refuses a payload that the job's own workers would not take.
 *
 * @returns whether it was checked. @throws `payload_refused` with the places.
 */
export async function checkEdit(store: Inspecting & Serving, id: string, payload: string): Promise<boolean> {
  const job = await store.getJob(id, { payload: false })
  if (job === undefined) return false
  const issues = await issuesOf(store, job, payload)
  if (issues === undefined || issues.length === 0) return issues !== undefined
  throw new SpillwayError(
    'payload_refused',
    `cannot give job ${id} this payload: the workers of ${job.kind} version ${job.version} would not read it: ${listed(issues)}; \`unchecked\` stores it all the same`,
  )
}

/** What to say of a job that was just sent back to work, whose payload its workers will not read. */
export async function warningOf(store: Inspecting & Serving, id: string): Promise<string | undefined> {
  const job = await store.getJob(id, { payload: true })
  if (job?.payloadText === undefined) return undefined
  const issues = await issuesOf(store, job, job.payloadText)
  if (issues === undefined || issues.length === 0) return undefined
  return `the workers of ${job.kind} version ${job.version} will not read its payload: ${listed(issues)}; \`spillway jobs edit ${id} --payload …\` repairs it, or a worker with an upcast reads it`
}

function listed(issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, 5).map(({ path, message }) => `${path === '' ? 'it' : path} ${message}`)
  return shown.join(', ') + (issues.length > shown.length ? `, and ${issues.length - shown.length} more` : '')
}
