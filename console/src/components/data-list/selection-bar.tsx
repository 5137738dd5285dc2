import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { count, counted, totalText } from '../../words.js'
import type { Selection } from './selection.js'
import './selection-bar.css'

interface SelectionBarProps {
  readonly selection: Selection
  /** Of the rows: `dead letter`. */
  readonly noun: string
  readonly total: { readonly count: number; readonly estimate: boolean } | undefined
  /** What the filter says, in words; undefined: there is none. */
  readonly filterText: string | undefined
  /** Whether everything that matches can be chosen, also what no page has shown. Default: true. */
  readonly hasWhole?: boolean
  /** What can be done with them. */
  readonly children?: ReactNode
}

/** How much is chosen, in numbers, how to choose everything that matches, and what can be done with it. */
export function SelectionBar({ selection, noun, total, filterText, hasWhole = true, children }: SelectionBarProps) {
  const { ids, isWhole, isEmpty } = selection
  if (isEmpty) return null
  const hasMore = total === undefined || total.count > ids.size
  return (
    <section className="selection-bar" aria-label="Selection">
      <span className="selection-bar-text" role="status">
        {isWhole
          ? `All ${totalText(total)} ${noun}s that match ${filterText ?? 'no filter: everything'}`
          : `${counted(ids.size, noun)} selected`}
      </span>
      {hasWhole && !isWhole && hasMore && (
        <Button size="compact-sm" variant="subtle" onClick={selection.chooseWhole}>
          Select all {total === undefined ? '' : `${total.estimate ? 'that match' : count(total.count)}`}
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" onClick={selection.clear}>
        Clear selection
      </Button>
      <div className="selection-bar-actions">{children}</div>
    </section>
  )
}
