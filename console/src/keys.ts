/**
 * Under which keys the query client keeps what came from the API: one function per noun, so that whoever changes a noun, or
 * hears that it changed, reaches everything about it by `keys.noun()`.
 */
export const keys = {
  meta: () => ['meta'] as const,
  deadLetters: (...what: readonly unknown[]) => ['dead-letters', ...what] as const,
  jobs: (...what: readonly unknown[]) => ['jobs', ...what] as const,
  held: (...what: readonly unknown[]) => ['held', ...what] as const,
  operations: (...what: readonly unknown[]) => ['operations', ...what] as const,
  queues: (...what: readonly unknown[]) => ['queues', ...what] as const,
  workers: (...what: readonly unknown[]) => ['workers', ...what] as const,
  audit: (...what: readonly unknown[]) => ['audit', ...what] as const,
  archive: (...what: readonly unknown[]) => ['archive', ...what] as const,
  tokens: (...what: readonly unknown[]) => ['tokens', ...what] as const,
  webhooks: (...what: readonly unknown[]) => ['webhooks', ...what] as const,
  duties: (...what: readonly unknown[]) => ['duties', ...what] as const,
  rings: (...what: readonly unknown[]) => ['rings', ...what] as const,
  masks: (...what: readonly unknown[]) => ['masks', ...what] as const,
} as const

export type Noun = keyof typeof keys
