import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { absolute, count } from '../../words.js'
import './time-chart.css'

export interface Series {
  readonly label: string
  readonly values: readonly number[]
  /** A variable of tokens.css. */
  readonly color: '--bad' | '--good' | '--accent-ink' | '--warn'
  /** Drawn with gaps, so that lines can be told apart without colour. */
  readonly isDashed?: boolean
}

interface TimeChartProps {
  readonly title: string
  /** What it shows, in a sentence with its numbers. */
  readonly summary: string
  readonly times: readonly Date[]
  readonly series: readonly Series[]
}

const Plot = lazy(() => import('./plot.js'))

/** Numbers over time: as lines, as a sentence, and, for whoever wants each one, as a table. */
export function TimeChart({ title, summary, times, series }: TimeChartProps) {
  const [isTable, setTable] = useState(false)
  return (
    <figure className="time-chart" aria-label={title}>
      <div className="time-chart-head">
        <ul className="time-chart-legend">
          {series.map(({ label, color, isDashed }) => (
            <li key={label}>
              <svg aria-hidden="true" width="18" height="8">
                <line
                  x1="0"
                  y1="4"
                  x2="18"
                  y2="4"
                  stroke={`var(${color})`}
                  strokeWidth="2"
                  strokeDasharray={isDashed ? '4 3' : undefined}
                />
              </svg>
              {label}
            </li>
          ))}
        </ul>
        <Button size="compact-xs" variant="subtle" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {isTable ? 'Show as chart' : 'Show as table'}
        </Button>
      </div>
      {isTable ? (
        <Numbers times={times} series={series} title={title} />
      ) : (
        <Suspense fallback={<div className="time-chart-room" />}>
          <div role="img" aria-label={summary}>
            <Plot times={times} series={series} />
          </div>
        </Suspense>
      )}
      <figcaption className="unseen">{summary}</figcaption>
    </figure>
  )
}

function Numbers({ times, series, title }: Pick<TimeChartProps, 'times' | 'series' | 'title'>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
    <div className="time-chart-numbers" tabIndex={0}>
      <table aria-label={title}>
        <thead>
          <tr>
            <th>Time</th>
            {series.map(({ label }) => (
              <th key={label}>{label}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((at, n) => (
            <tr key={at.getTime()}>
              <td>{absolute(at)}</td>
              {series.map(({ label, values }) => (
                <td key={label}>{count(values[n] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
