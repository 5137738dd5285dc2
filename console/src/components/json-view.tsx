import { Button } from '@mantine/core'
import { useMemo, useState } from 'react'
import { exactJson } from '../exact-json.js'
import { count } from '../words.js'
import { seen } from './user-text.js'
import './json-view.css'

/** So many lines a browser draws without a pause. */
const MOST_LINES = 1_000

/** JSON as text, never as markup, to the last digit; what is very long is shown in part first. */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  const [isWhole, setWhole] = useState(false)
  const lines = useMemo(() => (exactJson(value, 2) ?? 'null').split('\n'), [value])
  const isCut = !isWhole && lines.length > MOST_LINES
  return (
    <div className="json-view">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard. */}
      <pre role="region" tabIndex={0} aria-label={label}>
        {(isCut ? lines.slice(0, MOST_LINES) : lines).map((line, n) => (
          <Line key={n} text={line} />
        ))}
      </pre>
      {isCut && (
        <Button size="xs" variant="default" onClick={() => setWhole(true)}>
          Show all {count(lines.length)} lines
        </Button>
      )}
    </div>
  )
}

const KEY = /^(\s*)("(?:[^"\\]|\\.)*")(: ?)(.*)$/s

function Line({ text }: { text: string }) {
  const [, indent, key, colon, rest] = KEY.exec(text) ?? []
  if (key === undefined) return <div>{seen(text)}</div>
  return (
    <div>
      {indent}
      <span className="json-view-key">{seen(key)}</span>
      {colon}
      {seen(rest ?? '')}
    </div>
  )
}
