/** What is done in the background, each on a schedule of its own, and what happens while nobody does it. */
export const DUTIES = {
  promote: 'makes due jobs available; without it they wait',
  rescue: 'takes the jobs of dead workers back; without it they stay running',
  deadlines: 'gives up waiting jobs whose deadline passed; without it they wait until they are claimed',
  callbacks: 'ends waits whose callback timed out; without it those jobs wait on',
  unserved: 'brings set-aside jobs back and gives up what nobody serves; without it they stay aside',
  rings: 'gives the space of claimed and settled rows back; without it tables grow',
  fold: 'folds counts of causes; without it lists of causes get slower',
  operations: 'goes on with operations nobody is running; without it they stand still',
  events: 'gives events their place in the log; without it nobody is told of deaths',
  webhooks: 'sends what webhooks are told; without it deliveries wait',
  partitions: 'makes partitions ahead; without it they are made when they are first needed',
  retain: 'deletes finished jobs that outlived their retention; without it they stay',
  retain_dlq: 'deletes dead letters that outlived their retention; without it they stay',
  retain_held: 'deletes discarded and held jobs that outlived their retention; without it they stay',
  evict: 'keeps dead-letter queues within their caps; without it they grow past them',
  forget: 'deletes bookkeeping that has served its time; without it tables grow',
} as const

export type DutyName = keyof typeof DUTIES

/** Whether `text` names a duty. */
export function isDuty(text: string): text is DutyName {
  return Object.hasOwn(DUTIES, text)
}
