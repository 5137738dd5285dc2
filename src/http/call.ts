import type { ActOptions } from '../client/act.js'
import type { Client } from '../client/client.js'
import { SpillwayError } from '../job/errors.js'
import type { Right } from '../job/rights.js'
import type { Contract, RouteName } from './contract.js'
import type { Live } from './live.js'
import type { InputOf } from './route.js'
import type { Views } from './views.js'

/** Who asks. */
export interface Principal {
  /** The name that actions are written under. */
  readonly actor: string
  readonly rights: readonly Right[]
  /** The only queues there are for them; null: all. */
  readonly queues: readonly string[] | null
  /** Until when they are signed in, where a cookie says who it is. */
  readonly sessionExpiresAt?: Date | undefined
}

/** One request on its way through a handler. */
export interface Call {
  /** Inside the transaction of the Idempotency-Key, where there is one. */
  readonly client: Client
  readonly principal: Principal
  /** Who acts and under which request, to be passed on with every action. */
  readonly act: Pick<ActOptions, 'actor' | 'requestId'>
  readonly request: Request
  /** The body, where it is lines. */
  lines(): AsyncIterable<string> | Iterable<string>
  /** What may be shown, and how. */
  readonly views: Views
  readonly server: ServerFacts
  readonly door: Door
  /** What happens while somebody listens. */
  readonly live: Live
  /** What many callers look at, asked once for all of them: at most a second old, and never older than a change made here. */
  once<T>(key: string, ask: () => Promise<T>): Promise<T>
  /** Fires when the caller has gone. */
  readonly signal: AbortSignal
  /** Fires when the server stops: what would go on for ever ends. */
  readonly stopping: AbortSignal
  /** How long a stream lasts. */
  readonly streamMs: number
}

export interface ServerFacts {
  readonly version: string
  readonly isReadOnly: boolean
  readonly isOpen: boolean
  /** Whether a token can be exchanged for a session. */
  readonly takesSessions: boolean
  /** Places that are hidden because the server was started so. */
  readonly masks: readonly string[]
}

/** Where browsers come in and go. */
export interface Door {
  /** @returns who it is, and a `Set-Cookie`. @throws `unauthenticated`, `rate_limited`, `cross_origin`, `invalid_option` */
  signIn(token: string): Promise<{ readonly principal: Principal; readonly cookie: string }>
  signOut(): Promise<string>
}

/** An answer that has another status than the first of its route, or is not to be kept as it is. */
export class Answered {
  constructor(
    readonly status: number,
    readonly value: unknown,
    /** What a repeated request gets. Default: the same. */
    readonly kept: unknown = value,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

/** Answers a value (then the route's first status), an {@link Answered}, or a `Response` that is a stream. */
export type Handler<N extends RouteName> = (call: Call, input: InputOf<Contract[N]>) => Promise<unknown>

export type Handlers<N extends RouteName> = { readonly [K in N]: Handler<K> }

/** @throws `forbidden` where the caller lacks the right. */
export function need({ principal }: Pick<Call, 'principal'>, right: Right): void {
  if (principal.rights.includes(right)) return
  throw new SpillwayError('forbidden', `cannot do this as ${principal.actor}: the right ${right} is missing`)
}

/** The options of an action: who, under which request, and why. */
export function acting({ act }: Call, body: { readonly reason?: string | undefined } = {}): ActOptions {
  return { ...act, reason: body.reason }
}
