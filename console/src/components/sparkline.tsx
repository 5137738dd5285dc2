import './sparkline.css'

interface SparklineProps {
  readonly values: readonly number[]
  /** What it shows, for whoever does not see it: `12 arrivals in the last 24 hours, 9 of them in the last one`. */
  readonly label: string
}

const WIDTH = 96
const HEIGHT = 20

/** A row of small bars, the newest on the right. */
export function Sparkline({ values, label }: SparklineProps) {
  const most = Math.max(1, ...values)
  const step = WIDTH / Math.max(1, values.length)
  return (
    <svg
      className="sparkline"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
    >
      <title>{label}</title>
      {values.map((value, n) => {
        const height = value === 0 ? 1 : Math.max(2, (value / most) * HEIGHT)
        return (
          <rect
            key={n}
            className={value === 0 ? 'sparkline-none' : 'sparkline-bar'}
            x={n * step}
            y={HEIGHT - height}
            width={Math.max(1, step - 1)}
            height={height}
          />
        )
      })}
    </svg>
  )
}
