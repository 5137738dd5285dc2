import { type Truthy, type UntilOptions, until as untilSoon } from 'spillway/testing'

/** `until` for tests with real processes, on machines that have other things to do as well. */
export function until<T>(look: () => T | Promise<T>, options: UntilOptions = {}): Promise<Truthy<T>> {
  return untilSoon(look, { within: '30s', ...options })
}
