import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { shortCount } from '../../words.js'
import type { Series } from './time-chart.js'

const HEIGHT = 180

/** The lines themselves; loaded when the first chart is shown. */
export default function Plot({ times, series }: { times: readonly Date[]; series: readonly Series[] }) {
  const room = useRef<HTMLDivElement>(null)
  const scheme = useComputedColorScheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read off the page, and another scheme has others.
  useEffect(() => {
    const at = room.current
    if (at === null) return undefined
    const data: UPlot.AlignedData = [
      times.map((it) => it.getTime() / 1_000),
      ...series.map(({ values }) => [...values]),
    ]
    const plot = new UPlot(optionsOf(at, series), data, at)
    const observer = new ResizeObserver(() => plot.setSize({ width: at.clientWidth, height: HEIGHT }))
    observer.observe(at)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [times, series, scheme])
  return <div ref={room} className="time-chart-room" />
}

function optionsOf(room: HTMLElement, series: readonly Series[]): UPlot.Options {
  const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()
  const axis: UPlot.Axis = {
    stroke: colour('--ink-2'),
    font: '11px system-ui',
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
  }
  return {
    width: room.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (_, __, most) => [0, Math.max(4, most * 1.1)] } },
    axes: [
      { ...axis, size: 32, values: '{HH}:{mm}' },
      { ...axis, size: 44, values: (_, ticks) => ticks.map((it) => (Number.isInteger(it) ? shortCount(it) : '')) },
    ],
    series: [
      {},
      ...series.map(({ label, color, isDashed }) => ({
        ...{ label, stroke: colour(color), width: 2, points: { show: false } },
        ...(isDashed ? { dash: [5, 4] } : {}),
      })),
    ],
  }
}
