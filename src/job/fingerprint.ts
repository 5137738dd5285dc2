import { createHash } from 'node:crypto'

/**
 * What quarantine counts on: equal for jobs of one kind with the same payload, byte for byte. 32 hex digits.
 *
 * The store works out the same over its stored bytes: `md5(kind || E'\n' || payload::text)`. md5 names, it protects
 * nothing: who can choose payloads can also just send the same one twice.
 *
 * @param payload - The JSON text as it is stored.
 */
export function fingerprintOf(kind: string, payload: string): string {
  return createHash('md5').update(`${kind}\n${payload}`).digest('hex')
}
