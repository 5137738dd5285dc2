/** Something a process may want to act on at once. A lost notice costs at most one poll. */
export type Notice =
  | { readonly type: 'ready'; readonly queue: string; readonly priority: number; readonly position: string }
  | { readonly type: 'due'; readonly at: number }
  | { readonly type: 'abort'; readonly registration: string }
  | { readonly type: 'policy' }
  | { readonly type: 'operation' }
  /** Events were written that have no position yet. */
  | { readonly type: 'outbox' }
  /** The event log has grown to this position. */
  | { readonly type: 'events'; readonly position: string }
  /** The connection was re-established, so notices may have been missed. */
  | { readonly type: 'resync' }

export interface Listening {
  /** Whether notices were seen to arrive. */
  readonly live: boolean
  close(): Promise<void>
}
