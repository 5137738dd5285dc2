import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { Client } from '../client/client.js'
import { CONTRACT, type RouteName } from '../http/index.js'
import type { Store } from '../store/store.js'
import { createProgram } from './program.js'

/** Parts of a client that are public, and the methods of each: `dlq.retry`. */
type PartName = {
  [K in keyof Client]: Client[K] extends (...args: never[]) => unknown ? never : Client[K] extends object ? K : never
}[keyof Client]
type MethodOf<T> = { [K in keyof T]: T[K] extends (...args: never[]) => unknown ? K : never }[keyof T] & string
type SdkName = MethodOf<Client> | { [K in PartName]: `${K}.${MethodOf<Client[K]>}` }[PartName]

const verb = <
  const Routes extends RouteName | readonly RouteName[],
  const Names extends readonly [SdkName, ...SdkName[]],
>(
  routes: Routes,
  ...sdk: Names
) => ({ routes: [routes].flat() as RouteName[], sdk })

/** What an operator can do, by its command, with its routes and its names in the SDK. */
const VERBS = {
  enqueue: verb('enqueue', 'enqueue', 'enqueueMany'),

  'jobs list': verb('listJobs', 'jobs.list'),
  'jobs get': verb(['getJob', 'jobHistory', 'jobPayloads'], 'jobs.get', 'jobs.payloadVersions'),
  'jobs counts': verb('countJobs', 'jobs.counts'),
  'jobs why': verb('jobWhy', 'jobs.why'),
  'jobs retry': verb('retryJob', 'jobs.retry'),
  'jobs clone': verb('cloneJob', 'jobs.clone'),
  'jobs cancel': verb('cancelJob', 'jobs.cancel'),
  'jobs kill': verb('killJob', 'jobs.kill'),
  'jobs promote': verb('promoteJob', 'jobs.promote'),
  'jobs reschedule': verb('rescheduleJob', 'jobs.reschedule'),
  'jobs edit': verb(['editJob', 'editPayload'], 'jobs.edit', 'jobs.editPayload'),
  'jobs purge': verb('deleteJob', 'jobs.purge', 'jobs.purgeIds'),
  'jobs bulk': verb(['bulkJobs', 'actOnJobs'], 'dlq.retryMany', 'dlq.retryIds'),

  'dlq depth': verb('dlqDepth', 'dlq.depth', 'dlq.depthByQueue', 'dlq.count'),
  'dlq list': verb('listDlq', 'dlq.list'),
  'dlq get': verb(['getDlq', 'dlqTriage'], 'dlq.get', 'dlq.triageOf'),
  'dlq groups': verb('dlqGroups', 'dlq.groups'),
  'dlq history': verb('dlqHistory', 'dlq.history'),
  'dlq unreviewed': verb('unreviewedDlq', 'dlq.unreviewed'),
  'dlq expiring': verb('expiringDlq', 'dlq.expiring'),
  'dlq retry': verb('retryDlq', 'dlq.retry', 'dlq.retryIds'),
  'dlq retry-bulk': verb('bulkRetryDlq', 'dlq.retryMany'),
  'dlq move': verb(['moveDlq', 'bulkMoveDlq'], 'dlq.move', 'dlq.moveMany', 'dlq.moveIds'),
  'dlq discard': verb(['discardDlq', 'bulkDiscardDlq'], 'dlq.discard', 'dlq.discardMany', 'dlq.discardIds'),
  'dlq purge': verb(['deleteDlq', 'bulkPurgeDlq'], 'dlq.purge', 'dlq.purgeMany', 'dlq.purgeIds'),
  'dlq undo': verb('undoOperation', 'dlq.undo', 'operations.undo'),
  'dlq export': verb('exportDlq', 'dlq.export'),
  'dlq import': verb('importDlq', 'dlq.import'),
  'dlq ack': verb(['ackDlq', 'ackCause'], 'dlq.ack'),
  'dlq note': verb(['noteDlq', 'noteCause'], 'dlq.note'),
  'dlq mute': verb(['muteDlq', 'muteCause'], 'dlq.mute'),
  'dlq resolve': verb(['resolveDlq', 'resolveCause'], 'dlq.resolve'),

  'quarantine list': verb('listQuarantine', 'quarantine.list'),
  'quarantine show': verb('getQuarantined', 'quarantine.get'),
  'quarantine release': verb(['releaseQuarantined', 'releaseJob'], 'quarantine.release', 'quarantine.releaseIds'),
  'undecodable list': verb('listUndecodable', 'undecodable.list'),
  'undecodable get': verb('getJob', 'undecodable.get'),
  'undecodable check': verb('checkUndecodable', 'undecodable.check'),
  'undecodable release': verb('releaseUndecodable', 'undecodable.release'),

  'operations list': verb('listOperations', 'operations.list'),
  'operations get': verb('getOperation', 'operations.get'),
  'operations watch': verb('getOperation', 'operations.run', 'operations.handle'),
  'operations rows': verb('operationRows', 'operations.rows'),
  'operations rate': verb('setOperationRate', 'operations.setRate'),
  'operations pause': verb('pauseOperation', 'operations.pause'),
  'operations resume': verb('resumeOperation', 'operations.resume'),
  'operations cancel': verb('cancelOperation', 'operations.cancel'),

  'queues list': verb('listQueues', 'queues.list'),
  'queues get': verb('getQueue', 'queues.get'),
  'queues set': verb('setQueue', 'queues.set'),
  'queues pause': verb('pauseQueue', 'queues.pause'),
  'queues resume': verb('resumeQueue', 'queues.resume'),
  'queues unserved': verb('unservedKinds', 'queues.unserved'),
  'queues removed': verb('removedJobs', 'queues.removed'),
  'workers list': verb('listWorkers', 'workers.list'),
  'duties list': verb('listDuties', 'duties.list'),
  'duties pause': verb('pauseDuty', 'duties.pause'),
  'duties resume': verb('resumeDuty', 'duties.resume'),
  'rings list': verb('listRings', 'rings.list'),
  'rings set': verb('setRing', 'rings.set'),

  'archive list': verb('listArchive', 'archive.list'),
  'archive search': verb('listArchive', 'archive.search'),
  'archive get': verb('getArchived', 'archive.get'),
  'archive months': verb('archiveMonths', 'archive.months'),
  'archive export': verb('exportArchive', 'archive.export'),
  'archive restore': verb('restoreArchived', 'archive.restore'),
  'archive prune': verb('pruneArchive', 'archive.prune'),

  'audit list': verb('listAudit', 'audit.list'),
  'events list': verb('listEvents', 'events.list', 'events.position'),
  'events tail': verb('listEvents', 'events.subscribe'),
  'events retention': verb(['eventRetention', 'setEventRetention'], 'events.retention', 'events.setRetention'),
  'callbacks complete': verb('completeCallback', 'callbacks.complete'),
  'callbacks fail': verb('failCallback', 'callbacks.fail'),
  'callbacks heartbeat': verb('heartbeatCallback', 'callbacks.heartbeat'),
  'webhooks create': verb('createWebhook', 'webhooks.create'),
  'webhooks list': verb('listWebhooks', 'webhooks.list'),
  'webhooks get': verb('getWebhook', 'webhooks.get'),
  'webhooks update': verb('updateWebhook', 'webhooks.update'),
  'webhooks delete': verb('deleteWebhook', 'webhooks.delete'),
  'webhooks test': verb('testWebhook', 'webhooks.test'),
  'webhooks deliveries': verb('listDeliveries', 'webhooks.deliveries'),
  'webhooks redeliver': verb('redeliver', 'webhooks.redeliver'),
  'tokens create': verb('createToken', 'tokens.create'),
  'tokens list': verb('listTokens', 'tokens.list'),
  'tokens revoke': verb('revokeToken', 'tokens.revoke'),
  'masking list': verb('listMasks', 'masking.list'),
  'masking add': verb('addMask', 'masking.add'),
  'masking remove': verb('removeMask', 'masking.remove'),
}

/** What works on the database itself, on code of one's own, or on this machine. */
const NO_ROUTE = ['demo', 'dev', 'work', 'serve', 'migrate', 'roles', 'doctor', 'dlq replay']

/** For those who open the API in a program or a browser: on the command line there is nothing to do. */
const NO_COMMAND: readonly RouteName[] = ['meta', 'getSession', 'signIn', 'signOut', 'events', 'cappedDlq']

/** What the server is made of, and other names of what is above. */
const NO_VERB = [
  ...(['audit.note', 'tokens.verify', 'sessions.open', 'sessions.verify', 'sessions.end', 'dlq.capped'] as const),
  ...(['idempotently', 'flush', 'close'] as const),
  ...(['listDlq', 'getDlqJob', 'dlqDepth', 'dlqDepthByQueue', 'retryFromDlq', 'bulkRetryFromDlq'] as const),
  ...(['moveFailedToDlq', 'failToDlq', 'bulkMoveFailedToDlq', 'purgeDlq', 'purgeDlqJob'] as const),
] as const satisfies readonly SdkName[]

type Named = (typeof VERBS)[keyof typeof VERBS]['sdk'][number] | (typeof NO_VERB)[number]
/** A method of the SDK that stands nowhere above does not compile here, and is named by the compiler. */
const FORGOTTEN: Record<Exclude<SdkName, Named>, never> = {}

/** Commands that do something by themselves. */
function commandsOf(command: Command, path: readonly string[] = []): string[] {
  return command.commands.flatMap((it) => {
    const own = [...path, it.name()]
    return it.commands.length > 0 ? commandsOf(it, own) : [own.join(' ')]
  })
}

describe('every verb', () => {
  const commands = commandsOf(createProgram())
  const verbs = Object.values(VERBS)

  it('of the command line has a route and a name in the SDK', () => {
    expect(commands.filter((name) => !(name in VERBS) && !NO_ROUTE.includes(name))).toEqual([])
    expect([...Object.keys(VERBS), ...NO_ROUTE].filter((name) => !commands.includes(name))).toEqual([])
    expect(verbs.filter(({ routes }) => routes.length === 0)).toEqual([])
  })

  it('of the API has a command', () => {
    const reached = new Set([...verbs.flatMap(({ routes }) => routes), ...NO_COMMAND])

    expect(Object.keys(CONTRACT).filter((name) => !reached.has(name as RouteName))).toEqual([])
  })

  it('of the SDK has a command, and is there', () => {
    const client = new Client({ store: {} as Store })
    const isThere = (name: string) => {
      const [first = '', second] = name.split('.')
      const part: unknown = Reflect.get(client, first)
      return typeof (second === undefined ? part : Reflect.get(part as object, second)) === 'function'
    }

    expect([...verbs.flatMap(({ sdk }) => sdk), ...NO_VERB].filter((name) => !isThere(name))).toEqual([])
    expect(FORGOTTEN).toEqual({})
  })
})
