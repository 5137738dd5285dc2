import { SpillwayError, shown } from './errors.js'

/** What a caller of the HTTP API may be allowed to do. */
export const RIGHTS = ['read', 'payload:read', 'enqueue', 'retry', 'operate', 'edit', 'purge', 'admin'] as const

export type Right = (typeof RIGHTS)[number]

/** Names for sets of rights. */
export const ROLES = {
  viewer: ['read'],
  operator: ['read', 'payload:read', 'enqueue', 'retry', 'operate'],
  admin: RIGHTS,
} as const satisfies Record<string, readonly Right[]>

export type Role = keyof typeof ROLES

export function isRight(text: unknown): text is Right {
  return (RIGHTS as readonly unknown[]).includes(text)
}

export function isRole(text: unknown): text is Role {
  return typeof text === 'string' && Object.hasOwn(ROLES, text)
}

/**
 * The rights that a list of rights and roles comes to, each once.
 *
 * @throws `invalid_option` for an empty list, and for a name that is neither.
 */
export function rightsOf(names: readonly unknown[]): readonly Right[] {
  const all = names.flatMap((name): readonly Right[] => {
    if (isRole(name)) return ROLES[name]
    if (isRight(name)) return [name]
    throw new SpillwayError(
      'invalid_option',
      `cannot grant ${shown(name)}: known are the roles ${Object.keys(ROLES).join(', ')} and the rights ${RIGHTS.join(', ')}`,
    )
  })
  if (all.length === 0) throw new SpillwayError('invalid_option', 'cannot grant nothing: name a role or some rights')
  return RIGHTS.filter((right) => all.includes(right))
}
