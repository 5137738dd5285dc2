import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { AuditEntry } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Pager } from '../../components/data-list/pager.js'
import { useLeaveEmptyPage, usePaging } from '../../components/data-list/paging.js'
import { Moment } from '../../components/moment.js'
import { Page, Panel } from '../../components/page.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { seen, UserText } from '../../components/user-text.js'
import { exactJson } from '../../exact-json.js'
import { spoken } from '../../words.js'
import { EntryDialog } from './entry-dialog.js'
import { AuditFilters } from './filters.js'
import { auditQuery } from './queries.js'
import './audit.css'

/** Who changed what, why, and with what result. */
export function Audit() {
  const { cursor, ...filter } = useSearch({ from: '/audit' })
  const navigate = useNavigate({ from: '/audit' })
  const paging = usePaging()
  const { data, error, refetch, isPlaceholderData } = useQuery(auditQuery(filter, cursor))
  const [shown, setShown] = useState<AuditEntry>()
  useLeaveEmptyPage(paging, data?.items.length === 0 && !isPlaceholderData)
  return (
    <Page title="Audit">
      <Panel title="Log" summary="newest first">
        <AuditFilters filter={filter} onChange={(next) => void navigate({ search: next })} />
        {data === undefined ? (
          error === null ? (
            <Loading rows={10} />
          ) : (
            <Problem error={error} onRetry={refetch} />
          )
        ) : data.items.length === 0 ? (
          <Empty title={Object.keys(filter).length === 0 ? 'Nobody has changed anything yet' : 'No entry matches'} />
        ) : (
          <DataList
            label="Audit log"
            rows={data.items}
            rowId={({ id }) => id}
            columns={COLUMNS}
            onOpen={(entry) => setShown(entry)}
          />
        )}
        {data !== undefined && (
          <Pager paging={paging} shown={data.items.length} total={data.total} cursor={data.cursor} />
        )}
      </Panel>
      {shown !== undefined && <EntryDialog entry={shown} onClose={() => setShown(undefined)} />}
    </Page>
  )
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { id: 'at', header: 'When', width: '110px', cell: ({ at }) => <Moment at={at} /> },
  {
    ...{ id: 'action', header: 'Action', width: '170px', onPhone: 'title' },
    cell: ({ action }) => <UserText>{spoken(action)}</UserText>,
  },
  { id: 'actor', header: 'Actor', width: '16%', cell: ({ actor }) => <UserText>{actor}</UserText> },
  {
    ...{ id: 'target', header: 'Target' },
    cell: ({ target }) => <span className="audit-target mono small">{seen(shortText(target))}</span>,
  },
  { id: 'reason', header: 'Reason', width: '22%', cell: ({ reason }) => <UserText>{reason}</UserText> },
]

const MOST = 200

/** What something was about, on one line: `operation 4, selector (queue billing)`. */
function shortText(target: unknown): string {
  const text = isPlain(target) ? partsOf(target) : String(target ?? '–')
  return text.length > MOST ? `${text.slice(0, MOST)} …` : text
}

function partsOf(target: Readonly<Record<string, unknown>>): string {
  return Object.entries(target)
    .map(([key, value]) => `${spoken(key)} ${valueText(value)}`)
    .join(', ')
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value
  return isPlain(value) ? `(${partsOf(value)})` : (exactJson(value) ?? '')
}

/** No list, and no number that is kept to its last digit. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
