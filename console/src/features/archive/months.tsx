import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ArchiveMonth } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Moment } from '../../components/moment.js'
import { Panel } from '../../components/page.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import type { Answer } from '../../server.js'
import { count, counted } from '../../words.js'
import { changeOf } from '../changes/change.js'
import { ChangeDialog } from '../changes/change-dialog.js'
import { useCaller } from '../session/session.js'
import { monthsQuery } from './queries.js'

/** The archive by month: how much each holds, and which may go. */
export function Months() {
  const { data, error, refetch } = useQuery(monthsQuery)
  const { may } = useCaller()
  const [pruning, setPruning] = useState<ArchiveMonth>()
  const prune: Column<ArchiveMonth> = {
    ...{ id: 'prune', header: 'Actions', width: '110px' },
    cell: (month) =>
      month.isPrunable ? (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`Prune ${month.month}`}
          onClick={() => setPruning(month)}
        >
          Prune …
        </Button>
      ) : (
        <span className="small quiet">still kept</span>
      ),
  }
  return (
    <Panel title="Months" summary="pruned whole, once everything in them has outlived its archive retention">
      {data === undefined ? (
        error === null ? (
          <Loading rows={2} />
        ) : (
          <Problem error={error} onRetry={refetch} isSmall />
        )
      ) : data.length === 0 ? (
        <Empty title="There is no month yet" />
      ) : (
        <DataList
          label="Months of the archive"
          rows={data}
          rowId={({ month }) => month}
          columns={may('purge') ? [...COLUMNS, prune] : COLUMNS}
          hasKeys={false}
        />
      )}
      {pruning !== undefined && <PruneDialog month={pruning} onClose={() => setPruning(undefined)} />}
    </Panel>
  )
}

const COLUMNS: readonly Column<ArchiveMonth>[] = [
  { id: 'month', header: 'Month', onPhone: 'title', cell: ({ month }) => month },
  { id: 'rows', header: 'Jobs', width: '120px', align: 'end', cell: ({ rows }) => count(rows) },
  { id: 'until', header: 'Expires', cell: ({ keepUntil }) => <Moment at={keepUntil} none="never" /> },
]

function PruneDialog({ month: { month, rows }, onClose }: { month: ArchiveMonth; onClose: () => void }) {
  const [reason, setReason] = useState('')
  return (
    <ChangeDialog<Answer<'pruneArchive'>>
      title="Prune the archive"
      verb={`Prune ${month}`}
      scope={`${counted(rows, 'archived job')} of ${month}, whole, with their payloads and histories.`}
      danger="They are gone for good. There is no way back."
      typed={month}
      change={changeOf(
        'pruneArchive',
        { body: { month, ...because(reason) } },
        commandOf('archive', 'prune', month, ...flag('reason', reason.trim())),
      )}
      about={['archive']}
      done={(pruned) => <p>{`${pruned.month} is gone with ${counted(pruned.rows, 'job')}.`}</p>}
      onClose={onClose}
    >
      <ReasonField value={reason} onChange={setReason} />
    </ChangeDialog>
  )
}
