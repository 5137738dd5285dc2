import { NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Token } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { UserText } from '../../components/user-text.js'
import type { Answer, Sent } from '../../server.js'
import { changeOf } from '../actions/change.js'
import { ChangeDialog } from '../actions/change-dialog.js'
import { Secret } from './secret.js'

type Role = NonNullable<Sent<'createToken'>['body']['role']>

const ROLES: Readonly<Record<Role, string>> = {
  viewer: 'viewer: looks, without payloads',
  operator: 'operator: looks at payloads too, retries, cancels, pauses',
  admin: 'admin: everything',
}

/** Makes a token, and shows its secret this one time. */
export function NewTokenDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const [queues, setQueues] = useState('')
  const [expires, setExpires] = useState('90d')
  const [reason, setReason] = useState('')
  const only = queues.split(',').flatMap((it) => it.trim() || [])
  const body = {
    ...{ name: name.trim(), role, expires_in: expires.trim(), ...because(reason) },
    ...(only.length === 0 ? {} : { queues: only }),
  }
  const flags = [
    ...flag('role', role),
    ...only.flatMap((it) => flag('queue', it)),
    ...flag('expires-in', expires.trim()),
  ]
  const cli = commandOf('tokens', 'create', name.trim(), ...flags, ...flag('reason', reason.trim()))
  return (
    <ChangeDialog<Answer<'createToken'>>
      title="New token"
      verb="Make the token"
      scope="Whoever has it may do what its role says, until it expires or is revoked. Its secret is shown once."
      change={changeOf('createToken', { body }, cli)}
      about={['tokens']}
      done={({ name: made, secret }) => (
        <Secret secret={secret} what={`The token ${made}`} instead="Revoke it and make another one." />
      )}
      onClose={onClose}
    >
      <TextInput label="Name" value={name} onChange={({ currentTarget }) => setName(currentTarget.value)} />
      <NativeSelect
        label="Role"
        data={Object.entries(ROLES).map(([value, label]) => ({ value, label }))}
        value={role}
        onChange={({ currentTarget }) => setRole(currentTarget.value as Role)}
      />
      <TextInput
        label="Queues"
        description="The only ones it reaches, separated by commas; all where left empty"
        value={queues}
        onChange={({ currentTarget }) => setQueues(currentTarget.value)}
      />
      <TextInput
        label="Expires in"
        description="As 90d or 12h"
        value={expires}
        onChange={({ currentTarget }) => setExpires(currentTarget.value)}
      />
      <ReasonField value={reason} onChange={setReason} />
    </ChangeDialog>
  )
}

/** Ends a token. */
export function RevokeDialog({ token: { id, name }, onClose }: { token: Token; onClose: () => void }) {
  const [reason, setReason] = useState('')
  return (
    <ChangeDialog<Token>
      title="Revoke a token"
      verb="Revoke"
      scope={
        <>
          The token <UserText>{name}</UserText>. Whoever uses it is refused from the next request on, and signed out.
        </>
      }
      danger="It cannot be made valid again."
      change={changeOf(
        'revokeToken',
        { params: { id }, query: because(reason) },
        commandOf('tokens', 'revoke', id, ...flag('reason', reason.trim())),
      )}
      about={['tokens']}
      done={() => (
        <p>
          The token <UserText>{name}</UserText> is revoked.
        </p>
      )}
      onClose={onClose}
    >
      <ReasonField value={reason} onChange={setReason} />
    </ChangeDialog>
  )
}
