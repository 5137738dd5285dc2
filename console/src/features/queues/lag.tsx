import type { Queue } from '../../api.js'
import { useNow } from '../../components/now.js'
import { lengthOf } from '../../words.js'
import { lagOf } from './waiting.js'

/** For how long the oldest job that could be claimed has waited. */
export function Lag({ queue }: { queue: Queue }) {
  const lag = lagOf(queue, useNow())
  return lag === undefined ? '–' : lengthOf(lag)
}
