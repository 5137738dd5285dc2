import type { Answer } from './server.js'

/** The nouns of the API as the console shows them. Screens import these, and never the shapes of the wire. */

export type Meta = Answer<'meta'>
export type DeadLetter = Answer<'listDlq'>['items'][number]
export type CauseGroup = Answer<'dlqGroups'>['items'][number]
export type Flow = Answer<'dlqHistory'>['items'][number]
export type Queue = Answer<'listQueues'>['items'][number]
export type Worker = Answer<'listWorkers'>['items'][number]
export type Triage = NonNullable<Answer<'dlqTriage'>['triage']>
export type Payloads = Answer<'jobPayloads'>['items']
export type OperationRow = Answer<'operationRows'>['items'][number]
export type Job = Answer<'getJob'>
export type JobState = Job['state']
export type HistoryEntry = NonNullable<Job['history']>[number]
/** What an action on one job answers. */
export type Acted = Answer<'cancelJob'>
export type Quarantined = Answer<'listQuarantine'>['items'][number]
export type QuarantinedDetail = Answer<'getQuarantined'>
export type UndecodableCheck = Answer<'checkUndecodable'>
export type UnservedKind = Answer<'unservedKinds'>['items'][number]
export type AuditEntry = Answer<'listAudit'>['items'][number]
export type ArchivedJob = Answer<'getArchived'>
export type ArchiveMonth = Answer<'archiveMonths'>['items'][number]
export type Token = Answer<'listTokens'>['items'][number]
export type Webhook = Answer<'listWebhooks'>['items'][number]
export type Delivery = Answer<'listDeliveries'>['items'][number]
export type Duty = Answer<'listDuties'>['items'][number]
export type Ring = Answer<'listRings'>['items'][number]
export type Operation = Answer<'getOperation'>
export type Right = Meta['rights'][number]

/** How many rows a list has in all; undefined where the server could not say cheaply. */
export type Total = Answer<'listDlq'>['total']
