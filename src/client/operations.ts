import { randomUUID } from 'node:crypto'
import { SpillwayError } from '../job/errors.js'
import type { Operation, OperationRow, Store } from '../store/store.js'
import { type ActOptions, actOf } from './act.js'
import { positive, whole } from './bulk-options.js'
import { Listing, type ListOptions } from './listing.js'
import { type RunOptions, runOperation } from './operation-runner.js'

export interface RateOptions extends ActOptions {
  /** Rows a second; null: as fast as `maxWaiting` lets it. */
  readonly rate?: number | null | undefined
  readonly maxWaiting?: number | undefined
}

/** Bulk work, past and present. Everything here may be called from any process, whoever runs it. */
export class Operations {
  /** Names this process among the runners. */
  private readonly runner = `${process.pid}-${randomUUID()}`

  constructor(
    private readonly store: Store,
    private readonly actor: string,
  ) {}

  /** Undefined when there is none of that id. */
  get(id: string): Promise<Operation | undefined> {
    return this.store.getOperation(id)
  }

  /** Newest first. */
  list(options: ListOptions = {}): Listing<Operation> {
    return new Listing((page) => this.store.listOperations(page), options)
  }

  /** What it could not do, row by row, and why. What it did is found by `lastOperation`. */
  rows(id: string, options: ListOptions = {}): Listing<OperationRow> {
    return new Listing((page) => this.store.operationRows(id, page), options)
  }

  /** Holds between two batches. @throws `operation_not_found`, `invalid_state` */
  pause(id: string, options: ActOptions = {}): Promise<Operation> {
    return this.store.pauseOperation(id, actOf(this.actor, options))
  }

  /** Goes on where it held; after a failed canary, that the rest may follow all the same. */
  resume(id: string, options: ActOptions = {}): Promise<Operation> {
    return this.store.resumeOperation(id, actOf(this.actor, options))
  }

  /** Ends it between two batches. What it moved stays moved; {@link undo} takes it back. */
  cancel(id: string, options: ActOptions = {}): Promise<Operation> {
    return this.store.cancelOperation(id, actOf(this.actor, options))
  }

  /** Changes the pace of one that runs or is paused, from its next batch on. */
  setRate(id: string, { rate, maxWaiting, ...act }: RateOptions): Promise<Operation> {
    if (rate === undefined && maxWaiting === undefined) {
      throw new SpillwayError('invalid_option', 'cannot change the rate: name `rate`, `maxWaiting` or both')
    }
    return this.store.setOperationRate(
      id,
      rate === undefined || rate === null ? rate : positive('rate', rate),
      maxWaiting === undefined ? null : whole('maxWaiting', maxWaiting, 0),
      actOf(this.actor, act),
    )
  }

  /**
   * Takes back a retry (what nobody has claimed since; the rest is listed) or a discard (byte for byte), as an operation
   * of its own.
   *
   * @throws `operation_not_found`, `not_undoable`
   */
  async undo(id: string, options: ActOptions = {}): Promise<OperationHandle> {
    return this.handle(await this.store.undoOperation(id, actOf(this.actor, options)))
  }

  /**
   * Runs it here until it ends or pauses. Safe beside other processes: one at a time is at work, and this one takes over
   * when that dies.
   */
  run(id: string, options: RunOptions = {}): Promise<Operation> {
    return runOperation(this.store, id, this.runner, options)
  }

  /** An operation to wait for. */
  handle(operation: Operation): OperationHandle {
    return new OperationHandle(operation, this)
  }
}

/** Bulk work that was begun. Any process with the store goes on with it; {@link done} is how this one does. */
export class OperationHandle {
  constructor(
    /** As it was when it began. */
    readonly started: Operation,
    private readonly operations: Operations,
  ) {}

  get id(): string {
    return this.started.id
  }

  /** How it stands now. */
  async now(): Promise<Operation> {
    return (await this.operations.get(this.id)) ?? this.started
  }

  /** Runs it to its end, or to where it pauses by itself: look at `state` and `stateReason`. */
  done(options: RunOptions = {}): Promise<Operation> {
    return this.operations.run(this.id, options)
  }
}
