import { useState } from 'react'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import type { Answer } from '../../server.js'
import { changeOf } from '../changes/change.js'
import { ChangeDialog } from '../changes/change-dialog.js'
import { Secret } from './secret.js'
import { WebhookFields } from './webhook-fields.js'
import { changedSettings, webhookBody, webhookFlags } from './webhook-settings.js'

const NOTHING = { digest_events: '10' }

/** Tells a url of what happens from now on, and shows the secret that signs it this one time. */
export function NewWebhookDialog({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>(NOTHING)
  const [reason, setReason] = useState('')
  const url = (typed['url'] ?? '').trim()
  const settings = changedSettings(NOTHING, typed).filter(({ key }) => key !== 'url')
  const body = { ...webhookBody(settings, typed), url, ...because(reason) }
  const flags = [...webhookFlags(settings, typed), ...flag('reason', reason.trim())]
  return (
    <ChangeDialog<Answer<'createWebhook'>>
      title="New webhook"
      verb="Make the webhook"
      scope="The URL gets a signed request for what happens from now on. The secret that signs it is shown once."
      change={changeOf('createWebhook', { body }, commandOf('webhooks', 'create', url, ...flags))}
      isBlocked={url === ''}
      about={['webhooks']}
      done={({ secret }) => (
        <Secret
          secret={secret}
          what="The webhook"
          instead="Give it another one with webhooks update --rotate-secret."
        />
      )}
      onClose={onClose}
    >
      <WebhookFields typed={typed} onChange={setTyped} />
      <ReasonField value={reason} onChange={setReason} />
    </ChangeDialog>
  )
}
