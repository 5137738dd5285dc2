import { describeThrown } from './thrown.js'

/** From each older version of a payload to the next one. */
export type Upcasters = Readonly<Record<number, (value: never) => unknown>>

/** The part of a definition that says which versions it reads. */
export interface Versioned {
  readonly version: number
  readonly upcast: Upcasters
}

export type Upcast = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string }

/** The payload versions this definition can run, ascending: its own, and those its upcasters lead to it from. */
export function servedVersions({ version, upcast }: Versioned): number[] {
  let oldest = version
  while (upcast[oldest - 1] !== undefined) oldest--
  return Array.from({ length: version - oldest + 1 }, (_, i) => oldest + i)
}

/**
 * Brings `value` from version `from` to the definition's, one step after the other. Never throws: a missing step, a
 * newer version and an upcaster that throws are answers. Stored bytes are not touched.
 */
export function upcast(definition: Versioned, from: number, value: unknown): Upcast {
  if (from > definition.version) {
    return { ok: false, message: `the payload has version ${from}, and this code knows ${definition.version}` }
  }
  let current = value
  for (let version = from; version < definition.version; version++) {
    const step = definition.upcast[version] as ((value: unknown) => unknown) | undefined
    if (step === undefined)
      return { ok: false, message: `there is no upcast from version ${version} to ${version + 1}` }
    try {
      current = step(current)
    } catch (error) {
      return {
        ok: false,
        message: `the upcast from version ${version} to ${version + 1} threw: ${describeThrown(error).message}`,
      }
    }
    if (current instanceof Promise) {
      // Its rejection is nobody's otherwise.
      current.catch(() => {})
      return {
        ok: false,
        message: `the upcast from version ${version} to ${version + 1} is async; it must answer at once`,
      }
    }
  }
  return { ok: true, value: current }
}
