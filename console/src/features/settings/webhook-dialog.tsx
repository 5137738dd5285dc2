import { useState } from 'react'
import type { Webhook } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { UserText } from '../../components/user-text.js'
import { counted } from '../../words.js'
import { type Change, changeOf } from '../changes/change.js'
import { ChangeDialog } from '../changes/change-dialog.js'

/** What can be done with a webhook, and what that does. */
export const WEBHOOK_ACTIONS = {
  test: { label: 'Test', does: 'A message about nothing is sent now, also while it is paused.', danger: undefined },
  pause: {
    label: 'Pause',
    does: 'Nothing is sent until it is resumed; what happens meanwhile is sent then.',
    danger: undefined,
  },
  resume: {
    label: 'Resume',
    does: 'What has happened since it was paused is sent, and then what happens.',
    danger: undefined,
  },
  delete: {
    ...{ label: 'Delete', does: 'It is removed with its deliveries, and nothing more is sent.' },
    danger: 'Its secret is lost; another webhook for the URL gets another one.',
  },
} as const

export type WebhookAction = keyof typeof WEBHOOK_ACTIONS

interface WebhookDialogProps {
  readonly webhook: Webhook
  readonly action: WebhookAction
  readonly onClose: () => void
}

/** Does one thing with one webhook. */
export function WebhookDialog({ webhook: { id, url, pending }, action, onClose }: WebhookDialogProps) {
  const [reason, setReason] = useState('')
  const { label, does, danger } = WEBHOOK_ACTIONS[action]
  return (
    <ChangeDialog<string>
      title={`${label} a webhook`}
      verb={label}
      scope={
        <>
          <UserText>{url}</UserText>, with {counted(pending, 'pending delivery', 'pending deliveries')}. {does}
        </>
      }
      danger={danger}
      change={changeOfWebhook(action, id, reason)}
      about={['webhooks']}
      done={(said) => <p>{said}</p>}
      onClose={onClose}
    >
      <ReasonField value={reason} onChange={setReason} />
    </ChangeDialog>
  )
}

/** The request, with its answer in words. */
function changeOfWebhook(action: WebhookAction, id: string, reason: string): Change<string> {
  const params = { id }
  const why = because(reason)
  const flags = flag('reason', reason.trim())
  switch (action) {
    case 'test':
      return said(
        changeOf('testWebhook', { params, body: why }, commandOf('webhooks', 'test', id)),
        ({ state, lastStatus, lastError }) => {
          if (state === 'delivered') return `It was delivered: the URL answered ${lastStatus ?? 'well'}.`
          return `It was not delivered: ${lastError ?? (lastStatus === null ? 'no answer yet' : `the URL answered ${lastStatus}`)}.`
        },
      )
    case 'delete':
      return said(
        changeOf('deleteWebhook', { params, query: why }, commandOf('webhooks', 'delete', id, ...flags)),
        ({ changed }) => (changed ? 'It is gone.' : 'It was gone before.'),
      )
    default: {
      const paused = action === 'pause'
      const cli = commandOf('webhooks', 'update', id, ...flag('paused', String(paused)), ...flags)
      return said(
        changeOf('updateWebhook', { params, body: { paused, ...why } }, cli),
        ({ state }) => `It is ${state} now.`,
      )
    }
  }
}

function said<R>(change: Change<R>, words: (answer: R) => string): Change<string> {
  return { ...change, run: async (key) => words(await change.run(key)) }
}
