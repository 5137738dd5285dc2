import { Button } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Icon } from '../../components/icon.js'
import { keys } from '../../keys.js'
import type { Answer } from '../../server.js'
import { newestQuery } from './queries.js'
import type { DlqFilter } from './search.js'
import './changed-rows.css'

interface ChangedRowsProps {
  readonly filter: DlqFilter
  readonly page: Answer<'listDlq'>
  /** When the page was asked for. */
  readonly at: number
  readonly isFirst: boolean
}

/** Says that what is shown is not all any more, and leaves it to whoever reads when the rows may move. */
export function ChangedRows({ filter, page, at, isFirst }: ChangedRowsProps) {
  const queries = useQueryClient()
  const newest = useQuery(newestQuery(filter))
  const says =
    newest.data !== undefined && newest.dataUpdatedAt > at ? whatChanged(page, newest.data, isFirst) : undefined
  // Where there are no rows, none moves under anybody's pointer; and nobody is told that there is nothing while there is.
  const isUnseen = says !== undefined && page.items.length === 0
  useEffect(() => {
    if (isUnseen) void queries.invalidateQueries({ queryKey: keys.deadLetters() })
  }, [isUnseen, queries])
  return (
    <div role="status">
      {says !== undefined && (
        <div className="changed-rows">
          {says}
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<Icon name="refresh" size={13} />}
            onClick={() => void queries.invalidateQueries({ queryKey: keys.deadLetters() })}
          >
            Show them as they are now
          </Button>
        </div>
      )}
    </div>
  )
}

function whatChanged(
  { items, total }: Answer<'listDlq'>,
  newest: Answer<'listDlq'>,
  isFirst: boolean,
): string | undefined {
  const first = newest.items[0]?.id
  if (isFirst && first !== undefined && !items.some(({ id }) => id === first)) return 'There are newer dead letters.'
  const isCounted = total !== undefined && newest.total !== undefined && !total.estimate && !newest.total.estimate
  return isCounted && total.count !== newest.total?.count ? 'Dead letters have come or gone.' : undefined
}
