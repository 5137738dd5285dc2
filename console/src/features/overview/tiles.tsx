import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Mark } from '../../components/mark.js'
import { Moment } from '../../components/moment.js'
import { useNow } from '../../components/now.js'
import { count } from '../../words.js'
import { depthQuery, flowQuery } from '../dead-letters/queries.js'
import { filled, verdictOf } from './bleeding.js'

const MINUTE_MS = 60_000

/** The answer in four numbers. */
export function Tiles() {
  const now = useNow()
  const depth = useQuery(depthQuery)
  const flow = useQuery(flowQuery('1h'))
  const verdict = flow.data === undefined ? undefined : verdictOf(filled(flow.data.items, MINUTE_MS, 60, now))
  const oldest = depth.data?.queues
    .flatMap(({ oldestAt }) => oldestAt ?? [])
    .sort((a, b) => a.getTime() - b.getTime())[0]
  return (
    <dl className="tiles">
      <Tile label="The last hour" isWide>
        {verdict === undefined ? undefined : <Mark tone={verdict.tone}>{verdict.word}</Mark>}
      </Tile>
      <Tile label="Arrived, last hour">{verdict && count(verdict.arrived)}</Tile>
      <Tile label="Departed, last hour">{verdict && count(verdict.departed)}</Tile>
      <Tile label="Dead letters">{depth.data && count(depth.data.total)}</Tile>
      <Tile label="Oldest">{depth.data && <Moment at={oldest} none="none" />}</Tile>
    </dl>
  )
}

function Tile({ label, isWide = false, children }: { label: string; isWide?: boolean; children: ReactNode }) {
  return (
    <div className="tile" data-wide={isWide || undefined}>
      <dt>{label}</dt>
      <dd>{children ?? '…'}</dd>
    </div>
  )
}
