import type { Answer } from './server.js'

/** The nouns of the API as the console shows them. Screens import these, and never the shapes of the wire. */

export type Meta = Answer<'meta'>
export type DeadLetter = Answer<'listDlq'>['items'][number]
export type CauseGroup = Answer<'dlqGroups'>['items'][number]
export type Flow = Answer<'dlqHistory'>['items'][number]
export type Queue = Answer<'listQueues'>['items'][number]
export type Worker = Answer<'listWorkers'>['items'][number]
/** A dead letter with its history, and whatever else is known of one job. */
export type JobDetail = Answer<'getDlq'>
export type HistoryEntry = NonNullable<JobDetail['history']>[number]
export type Triage = NonNullable<Answer<'dlqTriage'>['triage']>
export type Payloads = Answer<'jobPayloads'>['items']
export type OperationRow = Answer<'operationRows'>['items'][number]
export type Operation = Answer<'getOperation'>
export type Right = Meta['rights'][number]

/** How many rows a list has in all; undefined where the server could not say cheaply. */
export type Total = Answer<'listDlq'>['total']
