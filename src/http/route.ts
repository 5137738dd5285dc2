import type { z } from 'zod'
import type { ErrorCode } from '../job/errors.js'
import type { Right } from '../job/rights.js'
import type { Tag } from './tags.js'

/** What an action by name asks for, on routes that take the name in their body. */
export const ACTION_RIGHTS = {
  retry: 'retry',
  discard: 'operate',
  move: 'operate',
  cancel: 'operate',
  kill: 'operate',
  promote: 'operate',
  release: 'operate',
  purge: 'purge',
} as const satisfies Record<string, Right>

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One operation of the API: all that routing, checks, types, documents and tests need to know of it. */
export interface Route {
  readonly method: Method
  /** Under `/api/v1`. `{id}` is a decimal number, every other place any text. */
  readonly path: string
  readonly tag: Tag
  readonly summary: string
  /** `by_action`: what {@link ACTION_RIGHTS} says of the body's `action`. `none`: anybody may. */
  readonly right: Right | 'by_action' | 'none'
  /** Whether it changes something. Default: every method but GET. */
  readonly mutation?: boolean
  /** Whether an Idempotency-Key has to be there; every mutation takes one. Default: false. */
  readonly keyRequired?: boolean
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** `lines`: NDJSON that is not read here. Default: `json`. */
  readonly bodyType?: 'json' | 'lines'
  /** Whether it may come without a body, which is then `{}`. */
  readonly bodyOptional?: boolean
  /** What it answers, by status. The first is what a handler's plain value gets. */
  readonly answers: Readonly<Record<number, z.ZodType | 'lines' | 'events'>>
  /** Refusals it has beside those every route has. */
  readonly errors?: readonly ErrorCode[]
}

/** Declares a route, keeping its exact types. */
export function route<const R extends Route>(it: R): R {
  return it
}

export function isMutation({ method, mutation }: Route): boolean {
  return mutation ?? method !== 'GET'
}

/** The names in the braces of a path. */
export function pathNames(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
}

type Names<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | Names<Rest> : never

/** What a handler of the route is given: checked, with defaults in place. */
export interface InputOf<R extends Route> {
  readonly params: { readonly [N in Names<R['path']>]: string }
  readonly query: R['query'] extends z.ZodType ? z.output<R['query']> : Record<string, never>
  readonly body: R['body'] extends z.ZodType ? z.output<R['body']> : undefined
}

/** What a caller of the route sends. */
export type RequestOf<R extends Route> = ([Names<R['path']>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: { readonly [N in Names<R['path']>]: string } }) &
  (R['query'] extends z.ZodType ? { readonly query?: Partial<z.input<R['query']>> } : { readonly query?: undefined }) &
  BodyOf<R>

type BodyOf<R extends Route> = R['bodyType'] extends 'lines'
  ? { readonly body: string }
  : R['body'] extends z.ZodType
    ? R['bodyOptional'] extends true
      ? { readonly body?: z.input<R['body']> }
      : { readonly body: z.input<R['body']> }
    : { readonly body?: undefined }

type Shapes<A> = { [S in keyof A]: A[S] extends z.ZodType ? z.output<A[S]> : Response }[keyof A]

/** What a caller of the route gets. */
export type AnswerOf<R extends Route> = Shapes<R['answers']>
