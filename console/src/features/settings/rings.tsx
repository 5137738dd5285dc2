import { useQuery } from '@tanstack/react-query'
import type { Ring } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Moment } from '../../components/moment.js'
import { Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { count, counted, lengthOf } from '../../words.js'
import { ringsQuery } from './queries.js'

/** Where live jobs lie, and when that turns. */
export function Rings() {
  const { data, error, refetch } = useQuery(ringsQuery)
  return (
    <Panel title="Rings" summary="slots that live jobs lie in; a turn gives their space back">
      {data === undefined ? (
        error === null ? (
          <Loading rows={2} />
        ) : (
          <Problem error={error} onRetry={refetch} isSmall />
        )
      ) : (
        <DataList label="Rings" rows={data} rowId={({ ring }) => ring} columns={COLUMNS} hasKeys={false} />
      )}
    </Panel>
  )
}

const COLUMNS: readonly Column<Ring>[] = [
  { id: 'ring', header: 'Ring', onPhone: 'title', cell: ({ ring }) => ring },
  { id: 'head', header: 'Slot now', width: '110px', align: 'end', cell: ({ head }) => count(head) },
  { id: 'turned', header: 'Last turn', cell: ({ rotatedAt }) => <Moment at={rotatedAt} /> },
  {
    ...{ id: 'turns', header: 'Turns after' },
    cell: ({ rotateRows, rotateMs }) => `${counted(rotateRows, 'row')} or ${lengthOf(rotateMs)}`,
  },
]
