import { Button } from '@mantine/core'
import { count, totalText } from '../../words.js'
import { Icon } from '../icon.js'
import type { Paging } from './paging.js'
import './pager.css'

interface PagerProps {
  readonly paging: Paging
  /** Rows on this page. */
  readonly shown: number
  readonly total: { readonly count: number; readonly estimate: boolean } | undefined
  /** Where the next page begins; null: this is the last. */
  readonly cursor: string | null
  /** The server stopped looking early: there may be more behind an empty page. */
  readonly isPartial?: boolean | undefined
}

/** Next and previous. Pages are found by where the last one ended, so that page 1,000 costs what page 1 costs. */
export function Pager({ paging, shown, total, cursor, isPartial = false }: PagerProps) {
  return (
    <nav className="pager" aria-label="Pages">
      <span className="pager-text">
        {count(shown)} on page {count(paging.number)}
        {total !== undefined && ` · ${totalText(total)} in all`}
        {isPartial && ' · the search went on for long and stopped: the next page goes on'}
      </span>
      {(paging.hasPrevious || cursor !== null) && (
        <>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<Icon name="left" size={13} />}
            disabled={!paging.hasPrevious}
            onClick={paging.previous}
          >
            Previous
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            rightSection={<Icon name="right" size={13} />}
            disabled={cursor === null}
            onClick={() => cursor !== null && paging.next(cursor)}
          >
            Next
          </Button>
        </>
      )}
    </nav>
  )
}
