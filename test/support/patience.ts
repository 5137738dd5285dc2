import { type Truthy, until as untilSoon, type WaitOptions } from 'spillway/testing'

/** `until` for tests with real processes, on machines that have other things to do as well. */
export function until<T>(look: () => T | Promise<T>, options: WaitOptions = {}): Promise<Truthy<T>> {
  return untilSoon(look, { within: '30s', ...options })
}
