import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { DeadLetter } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Pager } from '../../components/data-list/pager.js'
import { useLeaveEmptyPage, usePaging } from '../../components/data-list/paging.js'
import { useSelection } from '../../components/data-list/selection.js'
import { SelectionBar } from '../../components/data-list/selection-bar.js'
import { Moment } from '../../components/moment.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count, spoken } from '../../words.js'
import { type Scope, scopeOf } from '../operations/bulk.js'
import { useCaller } from '../session/session.js'
import { ChangedRows } from './changed-rows.js'
import { ExportDialog } from './export-dialog.js'
import { deadLettersQuery } from './queries.js'
import type { DlqFilter } from './search.js'
import { type DeadLetterAction, DeadLetterDialog, SelectionActions } from './selection-actions.js'
import './rows.css'

type Open = 'export' | { readonly action: DeadLetterAction; readonly scope: Scope }

/** Dead letters that match, page by page, and what can be done with them. */
export function Rows({ filter, filterText }: { filter: DlqFilter; filterText: string | undefined }) {
  const navigate = useNavigate()
  const { cursor } = useSearch({ from: '/dlq' })
  const paging = usePaging()
  const { data, error, refetch, isPlaceholderData, dataUpdatedAt } = useQuery(deadLettersQuery(filter, cursor))
  const { may } = useCaller()
  const [open, setOpen] = useState<Open>()
  const selection = useSelection(JSON.stringify(filter))
  useLeaveEmptyPage(paging, data?.items.length === 0 && data.partial !== true && !isPlaceholderData)
  if (data === undefined) return error === null ? <Loading rows={10} /> : <Problem error={error} onRetry={refetch} />
  const { items, total, partial } = data
  const close = () => setOpen(undefined)
  const actOn = (action: DeadLetterAction) => (job: DeadLetter) =>
    // What is chosen goes before the row the keyboard is on.
    setOpen({ action, scope: selection.isEmpty ? { ids: [job.id] } : scopeOf(selection, filter) })
  const clear = () => void navigate({ to: '/dlq', search: {} })
  return (
    <div className="selectable" aria-busy={isPlaceholderData}>
      {error !== null && <Problem error={error} onRetry={refetch} isSmall />}
      <SelectionBar selection={selection} noun="dead letter" total={total} filterText={filterText}>
        <SelectionActions scope={scopeOf(selection, filter)} total={total} onDone={selection.clear} />
      </SelectionBar>
      {!isPlaceholderData && (
        <ChangedRows filter={filter} page={data} at={dataUpdatedAt} isFirst={cursor === undefined} />
      )}
      {items.length === 0 && partial !== true ? (
        <Empty title={filterText === undefined ? 'No dead letters' : 'No dead letter matches'}>
          {filterText === undefined ? (
            'What is given up on comes here, with all that is known about it.'
          ) : (
            <Button size="compact-sm" variant="default" onClick={clear}>
              Clear the filters
            </Button>
          )}
        </Empty>
      ) : (
        <DataList
          label="Dead letters"
          rows={items}
          rowId={({ id }) => id}
          rowName={({ id }) => `dead letter ${id}`}
          columns={COLUMNS}
          selection={selection}
          keys={[
            ...(may('retry') ? [{ key: 'r', label: 'Retry what is selected, or the row', run: actOn('retry') }] : []),
            ...(may('operate') ? [{ key: 'd', label: 'Discard it', run: actOn('discard') }] : []),
          ]}
          onOpen={({ id }) => void navigate({ to: '/dlq/$id', params: { id } })}
        />
      )}
      <Pager paging={paging} shown={items.length} total={total} cursor={data.cursor} isPartial={partial} />
      {may('payload:read') && items.length > 0 && (
        <div className="rows-foot">
          <Button size="compact-sm" variant="subtle" onClick={() => setOpen('export')}>
            Export all that match …
          </Button>
        </div>
      )}
      {open === 'export' && <ExportDialog filter={filter} total={total} onClose={close} />}
      {open !== undefined && open !== 'export' && <DeadLetterDialog {...open} total={total} onClose={close} />}
    </div>
  )
}

const COLUMNS: readonly Column<DeadLetter>[] = [
  {
    id: 'id',
    header: 'Job',
    width: '110px',
    cell: ({ id }) => (
      <Link to="/dlq/$id" params={{ id }}>
        {id}
      </Link>
    ),
  },
  { id: 'error', header: 'Died of', onPhone: 'title', cell: (job) => <DiedOf job={job} /> },
  { id: 'kind', header: 'Kind', width: '15%', cell: ({ kind }) => <UserText>{kind}</UserText> },
  { id: 'queue', header: 'Queue', width: '12%', cell: ({ queue }) => <UserText>{queue}</UserText> },
  {
    id: 'attempts',
    header: 'Attempts',
    width: '90px',
    align: 'end',
    cell: ({ attempt, maxAttempts }) => `${count(attempt)} of ${count(maxAttempts)}`,
  },
  { id: 'died', header: 'Died', width: '110px', cell: ({ dlq }) => <Moment at={dlq?.dlqAt} /> },
]

function DiedOf({ job: { dlq, generation } }: { job: DeadLetter }) {
  return (
    <div>
      <div className="rows-error">
        <UserText empty={spoken(dlq?.reason ?? '')}>{dlq?.errorMessage ?? dlq?.errorClass}</UserText>
      </div>
      <div className="rows-why">
        {dlq?.errorMessage != null && dlq.errorClass !== null && (
          <>
            <UserText>{dlq.errorClass}</UserText>
            {' · '}
          </>
        )}
        <UserText>{spoken(dlq?.reason ?? '')}</UserText>
        {generation > 0 && ` · came back ${generation === 1 ? 'once' : `${count(generation)} times`}`}
      </div>
    </div>
  )
}
