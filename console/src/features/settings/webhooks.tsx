import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Webhook } from '../../api.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Mark } from '../../components/mark.js'
import { Panel } from '../../components/page.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count } from '../../words.js'
import { useCaller } from '../session/session.js'
import { DeadDeliveries } from './dead-deliveries.js'
import { EditWebhookDialog } from './edit-webhook-dialog.js'
import { NewWebhookDialog } from './new-webhook-dialog.js'
import { webhooksQuery } from './queries.js'
import { WEBHOOK_ACTIONS, type WebhookAction, WebhookDialog } from './webhook-dialog.js'

/** Who is told of what happens, and whether it reaches them. */
export function Webhooks() {
  const { data, error, refetch } = useQuery(webhooksQuery)
  const { may } = useCaller()
  const [open, setOpen] = useState<{ readonly webhook: Webhook; readonly action: WebhookAction } | 'new'>()
  const [editing, setEditing] = useState<Webhook>()
  const actions: Column<Webhook> = {
    ...{ id: 'actions', header: 'Actions', width: '312px' },
    cell: (webhook) => (
      <div className="data-list-actions">
        <Button
          size="compact-xs"
          variant="default"
          aria-label={`Edit ${webhook.url}`}
          onClick={() => setEditing(webhook)}
        >
          Edit …
        </Button>
        {(['test', webhook.state === 'paused' ? 'resume' : 'pause', 'delete'] as const).map((action) => (
          <Button
            key={action}
            size="compact-xs"
            variant="default"
            aria-label={`${WEBHOOK_ACTIONS[action].label} ${webhook.url}`}
            onClick={() => setOpen({ webhook, action })}
          >
            {WEBHOOK_ACTIONS[action].label} …
          </Button>
        ))}
      </div>
    ),
  }
  return (
    <Panel
      title="Webhooks"
      actions={
        may('admin') && (
          <Button size="compact-sm" variant="default" onClick={() => setOpen('new')}>
            New webhook …
          </Button>
        )
      }
    >
      {data === undefined ? (
        error === null ? (
          <Loading rows={2} />
        ) : (
          <Problem error={error} onRetry={refetch} isSmall />
        )
      ) : data.length === 0 ? (
        <Empty title="Nobody is told">A webhook gets a request for each death, or one for all of some time.</Empty>
      ) : (
        <>
          <DataList
            label="Webhooks"
            rows={data}
            rowId={({ id }) => id}
            columns={may('admin') ? [...COLUMNS, actions] : COLUMNS}
            hasKeys={false}
          />
          {data.some(({ dead }) => dead > 0) && <DeadDeliveries webhooks={data} />}
        </>
      )}
      {open === 'new' && <NewWebhookDialog onClose={() => setOpen(undefined)} />}
      {editing !== undefined && <EditWebhookDialog webhook={editing} onClose={() => setEditing(undefined)} />}
      {open !== undefined && open !== 'new' && <WebhookDialog {...open} onClose={() => setOpen(undefined)} />}
    </Panel>
  )
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    ...{ id: 'url', header: 'Sent to', onPhone: 'title' },
    cell: ({ url, description, lastError }) => (
      <>
        <UserText>{url}</UserText>
        <div className="small quiet">
          <UserText empty="">{description}</UserText>
          {lastError !== null && (
            <>
              {description !== null && ' · '}
              <UserText>{lastError}</UserText>
            </>
          )}
        </div>
      </>
    ),
  },
  {
    ...{ id: 'stands', header: 'Status', width: '90px' },
    cell: ({ state, failures, stateReason }) => {
      if (state === 'paused')
        return (
          <Mark tone="warn" title={stateReason ?? undefined}>
            Paused
          </Mark>
        )
      return failures > 0 ? <Mark tone="bad">Failing</Mark> : <Mark tone="good">Active</Mark>
    },
  },
  { id: 'types', header: 'Told of', width: '16%', cell: (webhook) => <ToldOf webhook={webhook} /> },
  { id: 'pending', header: 'Pending', width: '80px', align: 'end', cell: ({ pending }) => count(pending) },
  { id: 'dead', header: 'Dead', width: '70px', align: 'end', cell: ({ dead }) => count(dead) },
]

/** Types of events, and below them what else they have to be. */
function ToldOf({ webhook: { types, queues, kinds, reasons } }: { webhook: Webhook }) {
  const filters = [
    ...(queues === null ? [] : [`queue ${queues.join(', ')}`]),
    ...(kinds === null ? [] : [`kind ${kinds.join(', ')}`]),
    ...(reasons === null ? [] : [`reason ${reasons.join(', ')}`]),
  ]
  return (
    <>
      {types?.join(', ') ?? 'everything'}
      {filters.map((it) => (
        <div key={it} className="small quiet">
          <UserText>{it}</UserText>
        </div>
      ))}
    </>
  )
}
