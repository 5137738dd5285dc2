import type { UndecodableCheck } from '../../api.js'
import { count, counted } from '../../words.js'

/** What the workers said when they were asked which would decode now. */
export function Check({ check: { total, wouldDecode, refused, unknown } }: { check: UndecodableCheck }) {
  return (
    <p>
      Of {counted(total, 'job')}{' '}
      {wouldDecode === null
        ? `nobody can say whether ${total === 1 ? 'it decodes' : 'they decode'} now`
        : `${count(wouldDecode)} would decode now`}
      ; {count(refused)} would not{unknown > 0 && `, and of ${count(unknown)} no worker can say`}.
    </p>
  )
}
