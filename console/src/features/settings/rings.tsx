import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Ring } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Moment } from '../../components/moment.js'
import { Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { count, counted, lengthOf } from '../../words.js'
import { useCaller } from '../session/session.js'
import { ringsQuery } from './queries.js'
import { RingDialog } from './ring-dialog.js'

/** Where live jobs lie, and when that turns. */
export function Rings() {
  const { data, error, refetch } = useQuery(ringsQuery)
  const { may } = useCaller()
  const [open, setOpen] = useState<Ring>()
  const tune: Column<Ring> = {
    ...{ id: 'tune', header: 'Actions', width: '110px' },
    cell: (ring) => (
      <Button size="compact-xs" variant="default" aria-label={`Tune ${ring.ring}`} onClick={() => setOpen(ring)}>
        Tune …
      </Button>
    ),
  }
  return (
    <Panel title="Rings" summary="slots that live jobs lie in; a turn gives their space back">
      {data === undefined ? (
        error === null ? (
          <Loading rows={2} />
        ) : (
          <Problem error={error} onRetry={refetch} isSmall />
        )
      ) : (
        <DataList
          label="Rings"
          rows={data}
          rowId={({ ring }) => ring}
          columns={may('admin') ? [...COLUMNS, tune] : COLUMNS}
          hasKeys={false}
        />
      )}
      {open !== undefined && <RingDialog ring={open} onClose={() => setOpen(undefined)} />}
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
