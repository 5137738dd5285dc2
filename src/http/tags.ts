/** Parts of the API, and what each is about. */
export const TAGS = {
  jobs: 'Jobs by id, in every state.',
  'dead letters': 'Jobs that were given up, with all their evidence, and the way back.',
  triage: 'What people say about dead letters and about their causes.',
  operations: 'Bulk work, past and present.',
  queues: 'Queues, their policy and their brakes.',
  server: 'Workers, the audit log, and what the server says of itself.',
  upkeep: 'What is done in the background, its brakes, and where live jobs lie.',
  archive: 'Jobs that outlived their retention, of queues that keep them for audits.',
  access: 'Sessions, tokens, and places that are shown to nobody.',
  events: 'What happens, as it happens, and what has happened.',
  callbacks: 'Answers that jobs wait for, by whoever has the token.',
  webhooks: 'Who else is told of what happens.',
  held: 'Jobs that are held: quarantined or undecodable.',
} as const

export type Tag = keyof typeof TAGS
