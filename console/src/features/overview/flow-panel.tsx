import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useNow } from '../../components/now.js'
import { Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { type Series, TimeChart } from '../../components/time-chart/time-chart.js'
import { count } from '../../words.js'
import { flowQuery } from '../dead-letters/queries.js'
import { filled } from './bleeding.js'
import type { OverviewSearch } from './search.js'

const RANGES = {
  '1h': { stepMs: 60_000, places: 60, words: 'the last hour' },
  '24h': { stepMs: 3_600_000, places: 24, words: 'the last 24 hours' },
} as const

/** What came into the dead-letter queue and what left it. */
export function FlowPanel() {
  const search: OverviewSearch = useSearch({ from: '/' })
  const range = search.range ?? '1h'
  const navigate = useNavigate({ from: '/' })
  const { stepMs, places, words } = RANGES[range]
  const { data, error, refetch } = useQuery(flowQuery(range))
  const now = Math.floor(useNow() / 60_000) * 60_000
  const flow = useMemo(() => data && filled(data.items, stepMs, places, now), [data, stepMs, places, now])
  const series = useMemo<readonly Series[]>(
    () =>
      flow === undefined
        ? []
        : [
            { label: 'Arrived', values: flow.arrived, color: '--bad' },
            { label: 'Departed', values: flow.departed, color: '--good', isDashed: true },
          ],
    [flow],
  )
  const total = (values: readonly number[]) => count(values.reduce((sum, it) => sum + it, 0))
  return (
    <Panel
      title="Arrivals and departures"
      summary={flow && `${total(flow.arrived)} arrived, ${total(flow.departed)} departed in ${words}`}
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Time shown"
          data={Object.keys(RANGES)}
          value={range}
          onChange={(value) => void navigate({ search: { range: value === '24h' ? '24h' : undefined }, replace: true })}
        />
      }
    >
      {flow !== undefined ? (
        <TimeChart
          title="Arrivals and departures of dead letters"
          summary={`In ${words} ${total(flow.arrived)} arrived and ${total(flow.departed)} departed.`}
          times={flow.times}
          series={series}
        />
      ) : error !== null ? (
        <Problem error={error} onRetry={refetch} />
      ) : (
        <Loading rows={5} />
      )}
    </Panel>
  )
}
