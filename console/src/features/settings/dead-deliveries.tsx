import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Delivery, Webhook } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Moment } from '../../components/moment.js'
import { Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count } from '../../words.js'
import { changeOf } from '../changes/change.js'
import { ChangeDialog } from '../changes/change-dialog.js'
import { useCaller } from '../session/session.js'
import { deadDeliveriesQuery } from './queries.js'
import './dead-deliveries.css'

/** Deliveries that were given up on, each to be sent once more. */
export function DeadDeliveries({ webhooks }: { webhooks: readonly Webhook[] }) {
  const { data, error, refetch } = useQuery(deadDeliveriesQuery)
  const { may } = useCaller()
  const [open, setOpen] = useState<Delivery>()
  const urls = new Map(webhooks.map(({ id, url }) => [id, url]))
  const columns: readonly Column<Delivery>[] = [
    {
      ...{ id: 'to', header: 'Sent to', onPhone: 'title' },
      cell: ({ webhookId }) => <UserText>{urls.get(webhookId)}</UserText>,
    },
    {
      ...{ id: 'why', header: 'Answered' },
      cell: ({ lastStatus, lastError }) => <UserText>{lastError ?? String(lastStatus ?? '')}</UserText>,
    },
    { id: 'attempts', header: 'Attempts', width: '90px', align: 'end', cell: ({ attempts }) => count(attempts) },
    { id: 'ended', header: 'Given up', width: '110px', cell: ({ endedAt }) => <Moment at={endedAt} /> },
  ]
  const again: Column<Delivery> = {
    ...{ id: 'again', header: 'Actions', width: '130px' },
    cell: (delivery) => (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Redeliver ${delivery.id}`}
        onClick={() => setOpen(delivery)}
      >
        Redeliver …
      </Button>
    ),
  }
  return (
    <>
      <h3 className="dead-deliveries-title">Deliveries that were given up on</h3>
      {data === undefined ? (
        error === null ? (
          <Loading rows={2} />
        ) : (
          <Problem error={error} onRetry={refetch} isSmall />
        )
      ) : (
        <DataList
          label="Dead deliveries"
          rows={data.items}
          rowId={({ id }) => id}
          columns={may('admin') ? [...columns, again] : columns}
          hasKeys={false}
        />
      )}
      {open !== undefined && <RedeliverDialog delivery={open} onClose={() => setOpen(undefined)} />}
    </>
  )
}

function RedeliverDialog({ delivery: { id, messageId }, onClose }: { delivery: Delivery; onClose: () => void }) {
  const [reason, setReason] = useState('')
  return (
    <ChangeDialog<Delivery>
      title="Redeliver"
      verb="Redeliver"
      scope={`Delivery ${id} is sent once more, under the same message id ${messageId}: receivers that saw it can tell.`}
      change={changeOf(
        'redeliver',
        { params: { id }, body: because(reason) },
        commandOf('webhooks', 'redeliver', id, ...flag('reason', reason.trim())),
      )}
      about={['webhooks']}
      done={({ state }) => <p>{`Delivery ${id} is ${state} now.`}</p>}
      onClose={onClose}
    >
      <ReasonField value={reason} onChange={setReason} />
    </ChangeDialog>
  )
}
