import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Mark } from '../../components/mark.js'
import { Moment } from '../../components/moment.js'
import { Panel } from '../../components/page.js'
import { spoken } from '../../words.js'
import { type DutyStanding, standingOf } from '../settings/duty-standing.js'
import { dutiesQuery } from '../settings/queries.js'

const WORRYING: readonly DutyStanding['word'][] = ['Late', 'Failing', 'Paused']

/** What should go on in the background and does not. Nothing is drawn while all is well. */
export function DutiesLate() {
  const { data } = useQuery(dutiesQuery)
  const late = data?.filter((duty) => WORRYING.includes(standingOf(duty).word)) ?? []
  if (late.length === 0) return null
  return (
    <Panel title="Duties late" actions={<Link to="/settings">All duties</Link>}>
      <ul className="overview-missing">
        {late.map((duty) => {
          const { tone, word } = standingOf(duty)
          return (
            <li key={duty.duty}>
              <Mark tone={tone}>{word}</Mark> {spoken(duty.duty)}, last success{' '}
              <Moment at={duty.lastSuccessAt} none="not yet" />
            </li>
          )
        })}
      </ul>
    </Panel>
  )
}
