import type { RegisteredWorker, Store } from '../store/store.js'

/** The worker processes that are registered with the store. */
export class WorkersList {
  constructor(private readonly store: Pick<Store, 'listWorkers'>) {}

  /**
   * Every worker whose registration has not ended, oldest first. One whose process was killed stays in the list until
   * its heartbeat is stale, 45 s at most.
   */
  async list(): Promise<readonly RegisteredWorker[]> {
    return this.store.listWorkers()
  }
}
