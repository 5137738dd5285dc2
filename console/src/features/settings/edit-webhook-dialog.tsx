import { useState } from 'react'
import type { Webhook } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { UserText } from '../../components/user-text.js'
import type { Answer } from '../../server.js'
import { counted } from '../../words.js'
import { changeOf } from '../changes/change.js'
import { ChangeDialog } from '../changes/change-dialog.js'
import { FromTo } from '../changes/from-to.js'
import { WebhookFields } from './webhook-fields.js'
import {
  changedSettings,
  type TypedWebhook,
  textOf,
  typedWebhook,
  type WebhookSetting,
  webhookBody,
  webhookFlags,
} from './webhook-settings.js'

/** Changes where a webhook sends to and what it is told of, after saying from what to what. */
export function EditWebhookDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  // What the dialog is about stays, although the webhook is another once it is saved.
  const [{ id, url, pending }] = useState(webhook)
  const [before] = useState(() => typedWebhook(webhook))
  const [typed, setTyped] = useState(before)
  const [reason, setReason] = useState('')
  const changed = changedSettings(before, typed)
  // A secret in a url is shown to nobody, so whoever changes the rest has to give it once more.
  const isCut = changed.some(({ key }) => key === 'url') && (typed['url'] ?? '').includes('[secret]')
  return (
    <ChangeDialog<Answer<'updateWebhook'>>
      title="Edit a webhook"
      verb="Save"
      scope={
        <>
          <UserText>{url}</UserText>. What it is told of holds from the next event on.
          {pending > 0 &&
            ` ${counted(pending, 'pending delivery goes', 'pending deliveries go')} to the URL it has then.`}
          {changed.length > 0 && (
            <FromTo
              differences={changed.map((it) => ({
                label: it.label,
                before: shown(it, before),
                after: shown(it, typed),
              }))}
            />
          )}
        </>
      }
      change={changeOf(
        'updateWebhook',
        { params: { id }, body: { ...webhookBody(changed, typed), ...because(reason) } },
        commandOf('webhooks', 'update', id, ...webhookFlags(changed, typed), ...flag('reason', reason.trim())),
      )}
      isBlocked={changed.length === 0 || isCut}
      about={['webhooks']}
      done={({ url: now }) => (
        <p>
          The webhook is changed. It sends to <UserText>{now}</UserText>.
        </p>
      )}
      onClose={onClose}
    >
      <WebhookFields
        typed={typed}
        onChange={setTyped}
        errors={isCut ? { url: 'Type it whole: a part of it is a secret, and not shown' } : {}}
      />
      <ReasonField value={reason} onChange={setReason} />
    </ChangeDialog>
  )
}

/** Of a list a line; an empty one narrows nothing. */
function shown(setting: WebhookSetting, typed: TypedWebhook): string {
  const text = textOf(setting, typed)
  return setting.type === 'list' ? text.split('\n').join(', ') || 'all' : text
}
