import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { given } from '../../components/search-params.js'
import type { Answer, Sent } from '../../server.js'
import { changeOf } from '../actions/change.js'
import { ChangeDialog } from '../actions/change-dialog.js'
import { Secret } from './secret.js'

type Body = Sent<'createWebhook'>['body']

/** Tells a url of what happens from now on, and shows the secret that signs it this one time. */
export function NewWebhookDialog({ onClose }: { onClose: () => void }) {
  const [url, setUrl] = useState('')
  const [types, setTypes] = useState('')
  const [description, setDescription] = useState('')
  const [digest, setDigest] = useState('')
  const [reason, setReason] = useState('')
  const only = types.split(',').flatMap((it) => it.trim() || [])
  const body: Body = {
    url: url.trim(),
    ...given({ description: description.trim(), digest: digest.trim() }),
    // What is no type the server refuses, and says which there are.
    ...(only.length === 0 ? {} : { types: only as NonNullable<Body['types']> }),
    ...because(reason),
  }
  const flags = [
    ...only.flatMap((it) => flag('type', it)),
    ...flag('digest', digest.trim()),
    ...flag('description', description.trim()),
    ...flag('reason', reason.trim()),
  ]
  return (
    <ChangeDialog<Answer<'createWebhook'>>
      title="New webhook"
      verb="Make the webhook"
      scope="The url gets a signed request for what happens from now on. The secret that signs it is shown once."
      change={changeOf('createWebhook', { body }, commandOf('webhooks', 'create', url.trim(), ...flags))}
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
      <TextInput
        label="Url"
        placeholder="https://hooks.example.com/spillway"
        value={url}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
      />
      <TextInput
        label="Told of"
        description="Types of events, separated by commas; everything where left empty"
        placeholder="died, quarantined"
        value={types}
        onChange={({ currentTarget }) => setTypes(currentTarget.value)}
      />
      <TextInput
        label="Digest"
        description="One request for all events of so long, as 5m; one for each event where left empty"
        value={digest}
        onChange={({ currentTarget }) => setDigest(currentTarget.value)}
      />
      <TextInput
        label="Description"
        value={description}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
      />
      <ReasonField value={reason} onChange={setReason} />
    </ChangeDialog>
  )
}
