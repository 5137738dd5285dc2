import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Token } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Mark } from '../../components/mark.js'
import { Moment } from '../../components/moment.js'
import { useNow } from '../../components/now.js'
import { Panel } from '../../components/page.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { useCaller } from '../session/session.js'
import { tokensQuery } from './queries.js'
import { NewTokenDialog, RevokeDialog } from './token-dialogs.js'

/** Who may come in. Their secrets are stored nowhere. */
export function Tokens() {
  const { data, error, refetch } = useQuery(tokensQuery)
  const { may } = useCaller()
  const [open, setOpen] = useState<Token | 'new'>()
  const revoke: Column<Token> = {
    ...{ id: 'revoke', header: 'Actions', width: '110px' },
    cell: (token) =>
      token.revokedAt === null && (
        <Button size="compact-xs" variant="default" aria-label={`Revoke ${token.name}`} onClick={() => setOpen(token)}>
          Revoke …
        </Button>
      ),
  }
  return (
    <Panel
      title="Tokens"
      summary="newest first"
      actions={
        may('admin') && (
          <Button size="compact-sm" onClick={() => setOpen('new')}>
            New token …
          </Button>
        )
      }
    >
      {data === undefined ? (
        error === null ? (
          <Loading rows={3} />
        ) : (
          <Problem error={error} onRetry={refetch} isSmall />
        )
      ) : data.items.length === 0 ? (
        <Empty title="There is no token yet">A server that others reach needs one for each who comes in.</Empty>
      ) : (
        <DataList
          label="Tokens"
          rows={data.items}
          rowId={({ id }) => id}
          columns={may('admin') ? [...COLUMNS, revoke] : COLUMNS}
          hasKeys={false}
        />
      )}
      {open === 'new' && <NewTokenDialog onClose={() => setOpen(undefined)} />}
      {open !== undefined && open !== 'new' && <RevokeDialog token={open} onClose={() => setOpen(undefined)} />}
    </Panel>
  )
}

const COLUMNS: readonly Column<Token>[] = [
  { id: 'name', header: 'Name', onPhone: 'title', cell: ({ name }) => <UserText>{name}</UserText> },
  { id: 'stands', header: 'Status', width: '110px', cell: (token) => <Standing token={token} /> },
  { id: 'rights', header: 'Rights', width: '26%', cell: ({ rights }) => rights.join(', ') },
  {
    ...{ id: 'queues', header: 'Queues', width: '12%' },
    cell: ({ queues }) => <UserText>{queues === null ? 'all' : queues.join(', ')}</UserText>,
  },
  {
    id: 'used',
    header: 'Last used',
    width: '110px',
    cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} none="never" />,
  },
  { id: 'expires', header: 'Expires', width: '110px', cell: ({ expiresAt }) => <Moment at={expiresAt} /> },
]

function Standing({ token: { revokedAt, expiresAt } }: { token: Token }) {
  const now = useNow()
  if (revokedAt !== null) return <Mark tone="quiet">Revoked</Mark>
  return expiresAt.getTime() < now ? <Mark tone="quiet">Expired</Mark> : <Mark tone="good">Valid</Mark>
}
