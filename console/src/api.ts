import type { Answer } from './server.js'

/** The nouns of the API as the console shows them. Screens import these, and never the shapes of the wire. */

export type Meta = Answer<'meta'>
export type DeadLetter = Answer<'listDlq'>['items'][number]
export type CauseGroup = Answer<'dlqGroups'>['items'][number]
export type Flow = Answer<'dlqHistory'>['items'][number]
export type Queue = Answer<'listQueues'>['items'][number]
export type Worker = Answer<'listWorkers'>['items'][number]
export type Operation = Answer<'getOperation'>
export type Right = Meta['rights'][number]

/** How many rows a list has in all; undefined where the server could not say cheaply. */
export type Total = Answer<'listDlq'>['total']
