export { assertEnqueued, assertNotEnqueued, type EnqueuedPattern } from './assert-enqueued.js'
export { type Drained, type DrainOptions, drain, type WorkerSource } from './drain.js'
export { factories, type Given, type JobSeed, type WorkerSeed } from './factories.js'
export { type AdvanceOptions, type FakeClock, fakeClock } from './fake-clock.js'
export { type IsolatedStore, type IsolatedStoreOptions, isolatedStore } from './isolated-store.js'
export {
  type Account,
  type ExpectedGone,
  type Fault,
  type OnePlaceChecker,
  type OnePlaceOptions,
  onePlace,
} from './one-place.js'
export { type Signal, signal, type Truthy, type UntilOptions, until, type WaitOptions } from './signals.js'
