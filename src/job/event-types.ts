/** What the event log tells of. A newer version may write more. */
export const EVENT_TYPES = {
  died: 'given up: a dead letter, or failed on a queue that has none',
  quarantined: 'held: it may be what kills its workers, or was handed back ten times in a row',
  undecodable: 'held: its payload cannot be read by the code there is',
  released: 'let go after it was held',
  imported: 'a dead letter that came from elsewhere',
  restored: 'a dead letter that came back from the cold archive',
  evicted: 'a dead letter that was removed because its queue is capped',
} as const

export type EventType = keyof typeof EVENT_TYPES

/** Whether `text` names one. */
export function isEventType(text: unknown): text is EventType {
  return typeof text === 'string' && Object.hasOwn(EVENT_TYPES, text)
}
