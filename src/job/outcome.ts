/** How one attempt ended, as the handler (or the runtime) says it. */
export type Outcome =
  | { readonly type: 'completed'; readonly result: unknown }
  | { readonly type: 'failed'; readonly error: unknown; readonly entry: 'error' | 'timeout' }
  | { readonly type: 'callbackFailed'; readonly error: unknown; readonly callback: string; readonly isLate?: boolean }
  | { readonly type: 'retryAfter'; readonly delayMs: number; readonly error: unknown }
  | { readonly type: 'skip'; readonly code: string; readonly details: unknown }
  | { readonly type: 'revoke' }
  | { readonly type: 'snooze'; readonly delayMs: number }
  | { readonly type: 'rateLimited'; readonly delayMs: number }
  | { readonly type: 'wait'; readonly callbackId: string; readonly name: string }
  | { readonly type: 'deadline' }
  | { readonly type: 'handback' }
