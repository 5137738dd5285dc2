import type { IconName } from '../../components/icon.js'

/** The places of the console, in their order, with the second key of their jump: `g` and then this. */
export const PLACES = [
  { to: '/', label: 'Overview', icon: 'overview', key: 'o' },
  { to: '/dlq', label: 'Dead letters', icon: 'dead', key: 'd' },
  { to: '/jobs', label: 'Jobs', icon: 'jobs', key: 'j' },
  { to: '/held', label: 'Held', icon: 'held', key: 'h' },
  { to: '/operations', label: 'Operations', icon: 'operations', key: 'p' },
  { to: '/queues', label: 'Queues', icon: 'queues', key: 'q' },
  { to: '/workers', label: 'Workers', icon: 'workers', key: 'w' },
  { to: '/audit', label: 'Audit', icon: 'audit', key: 'a' },
  { to: '/archive', label: 'Archive', icon: 'archive', key: 'c' },
  { to: '/settings', label: 'Settings', icon: 'settings', key: 's' },
] as const satisfies readonly { to: string; label: string; icon: IconName; key: string }[]
