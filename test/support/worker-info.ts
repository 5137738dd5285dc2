import type { WorkerInfo } from '../../src/store/store.js'

/** A worker as a process would register it, for tests that are the worker themselves. Its host is nobody's. */
export function workerInfo(part: Partial<WorkerInfo> = {}): WorkerInfo {
  return {
    name: 'test',
    host: 'test',
    bootId: 'test',
    pidNamespace: 'test',
    pid: 1,
    pidStarted: '0',
    queues: ['default'],
    serves: [{ kind: 'test', version: 1 }],
    concurrency: 10,
    version: 'test',
    ...part,
  }
}
