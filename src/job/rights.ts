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

/** The role that has exactly these rights; null: none has. */
export function roleOf(rights: readonly Right[]): Role | null {
  const roles = Object.entries(ROLES) as [Role, readonly Right[]][]
  const found = roles.find(([, all]) => all.length === rights.length && all.every((right) => rights.includes(right)))
  return found?.[0] ?? null
}

export function isRight(text: unknown): text is Right {
  return (RIGHTS as readonly unknown[]).includes(text)
}

export function isRole(text: unknown): text is Role {
  return typeof text === 'string' && Object.hasOwn(ROLES, text)
}

/**
 * The rights of a role and those named besides, each once. The right `admin` is about settings and tokens alone; the role
 * `admin` has every right.
 *
 * @throws `invalid_option` where both are left out, and for a name that is none.
 */
export function rightsOf(role: unknown, rights: readonly unknown[]): readonly Right[] {
  if (role !== undefined && !isRole(role)) throw unknown(role, `the roles ${Object.keys(ROLES).join(', ')}`)
  const all: Right[] = role === undefined ? [] : [...ROLES[role]]
  for (const right of rights) {
    if (!isRight(right)) throw unknown(right, `the rights ${RIGHTS.join(', ')}`)
    all.push(right)
  }
  if (all.length === 0) throw new SpillwayError('invalid_option', 'cannot grant nothing: name a role or some rights')
  return RIGHTS.filter((right) => all.includes(right))
}

function unknown(name: unknown, known: string): SpillwayError {
  return new SpillwayError('invalid_option', `cannot grant ${shown(name)}: known are ${known}`)
}
