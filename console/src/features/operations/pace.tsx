import { Button, Checkbox, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Operation } from '../../api.js'
import { commandOf, curlOf, flag } from '../../command-text.js'
import { useAction } from '../../components/action/action.js'
import { CopyAs } from '../../components/copy-as.js'
import { Panel } from '../../components/page.js'
import { given } from '../../components/search-params.js'
import { Problem } from '../../components/states.js'
import { ask } from '../../server.js'
import { count, counted } from '../../words.js'
import { useRefreshDeadLetters } from '../dead-letters/after.js'
import { useCaller } from '../session/session.js'
import './pace.css'

const SLOWEST = 1
const FASTEST = 5_000

/** The pace of an operation that is not over, changed from its next batch on. */
export function Pace({ operation }: { operation: Operation }) {
  const { may } = useCaller()
  const { rate, maxWaiting, action } = operation
  return (
    <Panel
      title="Pace"
      summary={`${rate === null ? 'as fast as it can' : `${counted(rate, 'row')} a second`}${
        action === 'retry' && maxWaiting > 0 ? `, held while ${count(maxWaiting)} of its jobs wait` : ''
      }`}
    >
      {may('operate') && <PaceForm key={`${rate} ${maxWaiting}`} operation={operation} />}
    </Panel>
  )
}

function PaceForm({ operation: { id, action, rate: now, maxWaiting } }: { operation: Operation }) {
  const refresh = useRefreshDeadLetters()
  const [rate, setRate] = useState(String(now ?? ''))
  const [waiting, setWaiting] = useState(String(maxWaiting))
  const isUnlimited = rate === ''
  const isWrong = (!isUnlimited && !(Number(rate) > 0)) || !/^\d+$/.test(waiting)
  const body = given({
    rate: isUnlimited ? null : Number(rate),
    max_waiting: action === 'retry' && Number(waiting) !== maxWaiting ? Number(waiting) : undefined,
  })
  const sent = { params: { id }, body }
  const { state, act } = useAction(sent, (key) => ask('setOperationRate', sent, { key }), refresh)
  const isSame = (isUnlimited ? null : Number(rate)) === now && Number(waiting) === maxWaiting
  return (
    <form
      className="pace"
      onSubmit={(event) => {
        event.preventDefault()
        void act()
      }}
    >
      <div className="pace-fields">
        <input
          type="range"
          aria-label="Rows a second, roughly"
          min={0}
          max={100}
          value={isUnlimited ? 100 : placeOf(Number(rate))}
          onChange={({ currentTarget }) => setRate(String(rateAt(Number(currentTarget.value))))}
        />
        <TextInput
          type="number"
          label="Rows a second"
          min={0}
          step="any"
          placeholder="no limit"
          value={rate}
          onChange={({ currentTarget }) => setRate(currentTarget.value)}
        />
        <Checkbox
          label="No limit"
          checked={isUnlimited}
          onChange={({ currentTarget }) => setRate(currentTarget.checked ? '' : String(now ?? 100))}
        />
        {action === 'retry' && (
          <TextInput
            type="number"
            label="Most waiting, 0 is no limit"
            min={0}
            value={waiting}
            onChange={({ currentTarget }) => setWaiting(currentTarget.value)}
          />
        )}
        <Button type="submit" loading={state.is === 'acting'} disabled={isWrong || isSame}>
          {state.is === 'unknown' ? 'Send again' : 'Change the pace'}
        </Button>
      </div>
      <CopyAs
        cli={commandOf(
          ...['operations', 'rate', id, isUnlimited ? 'none' : rate],
          ...(action === 'retry' ? flag('max-waiting', waiting) : []),
        )}
        curl={curlOf('setOperationRate', sent)}
      />
      {(state.is === 'refused' || state.is === 'unknown') && <Problem error={state.error} isSmall />}
    </form>
  )
}

/** The slider goes by magnitude: from 1 to 10 as far as from 500 to 5,000. */
function rateAt(place: number): number {
  const rate = SLOWEST * (FASTEST / SLOWEST) ** (place / 100)
  return rate < 10 ? Math.round(rate) : Number(rate.toPrecision(2))
}

function placeOf(rate: number): number {
  if (!(rate > 0)) return 0
  return Math.round((Math.log(rate / SLOWEST) / Math.log(FASTEST / SLOWEST)) * 100)
}
