import type { Place } from './place.js'

export const SESSION_COOKIE = 'spillway_session'

/** The secret of a session, where the request carries one. Of two places it is mounted at, the nearer one comes first. */
export function sessionOf(request: Request): string | undefined {
  for (const part of (request.headers.get('cookie') ?? '').split(';')) {
    const [name, value = ''] = part.trim().split('=', 2)
    if (name === SESSION_COOKIE && value !== '') return value
  }
  return undefined
}

/** For a `Set-Cookie` header: no script reads it, no other site sends it, and it goes nowhere but below the mount. */
export function sessionCookie(secret: string, expiresAt: Date, place: Place): string {
  const seconds = Math.max(0, Math.floor((expiresAt.getTime() - Date.now()) / 1_000))
  return cookie(secret, seconds, place)
}

export function noSession(place: Place): string {
  return cookie('', 0, place)
}

function cookie(value: string, maxAge: number, { base, isSecure }: Place): string {
  return [
    `${SESSION_COOKIE}=${value}`,
    `Path=${encodeURI(base) || '/'}`,
    `Max-Age=${maxAge}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ].join('; ')
}
