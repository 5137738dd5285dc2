import { Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Triage } from '../../api.js'
import { commandOf, curlOf, flag } from '../../command-text.js'
import { ActionDialog } from '../../components/action/action-dialog.js'
import { ReasonField } from '../../components/action/reason-field.js'
import { given } from '../../components/search-params.js'
import { ask } from '../../server.js'
import { useRefreshDeadLetters } from './after.js'
import { TriageSaid } from './triage-said.js'

/** One dead letter, or everything of one cause in one queue. */
export type TriageTarget = { readonly id: string } | { readonly queue: string; readonly cause: string }

export const TRIAGE_VERBS = {
  ack: { title: 'Acknowledge', says: 'Says that somebody has looked at it.', clear: 'Take the acknowledgement back' },
  note: { title: 'Note', says: 'Writes down what was found out, in place of what is there.', clear: undefined },
  mute: { title: 'Mute', says: 'Marks it as known noise for a while.', clear: 'End the muting now' },
  resolve: {
    title: 'Resolve',
    says: 'Says that it is fixed. A cause that kills again after that shows as failed again.',
    clear: 'Take the resolution back',
  },
} as const

export type TriageVerb = keyof typeof TRIAGE_VERBS

const ROUTES = {
  ack: ['ackDlq', 'ackCause'],
  note: ['noteDlq', 'noteCause'],
  mute: ['muteDlq', 'muteCause'],
  resolve: ['resolveDlq', 'resolveCause'],
} as const

const UNTIL = [
  { value: '1h', label: '1 hour' },
  { value: '8h', label: '8 hours' },
  { value: '1d', label: '1 day' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
]

interface TriageDialogProps {
  readonly verb: TriageVerb
  readonly target: TriageTarget
  /** What is said of it; null: nothing, undefined: that is not known here. */
  readonly triage: Triage | null | undefined
  readonly onClose: () => void
}

/** Writes down how a dead letter, or a cause, stands. Nothing of the jobs changes. */
export function TriageDialog({ verb, target, triage, onClose }: TriageDialogProps) {
  const { title, says, clear } = TRIAGE_VERBS[verb]
  const refresh = useRefreshDeadLetters()
  const [isClear, setClear] = useState(false)
  const [note, setNote] = useState(triage?.note ?? '')
  const [until, setUntil] = useState('1d')
  const [link, setLink] = useState(triage?.link ?? '')
  const [reason, setReason] = useState('')
  const why = given({ reason: reason.trim() })
  const body = {
    ack: { ...why, ...(isClear ? { clear: true } : {}) },
    note: { text: note.trim() === '' ? null : note, ...why },
    mute: { until: isClear ? null : until, ...why },
    resolve: { ...given({ link: isClear ? undefined : link.trim() }), ...why, ...(isClear ? { clear: true } : {}) },
  }[verb]
  const sent =
    'id' in target
      ? { params: { id: target.id }, body }
      : { params: { cause: target.cause }, body: { queue: target.queue, ...body } }
  const route = ROUTES[verb]['id' in target ? 0 : 1]
  const flags = {
    ack: [],
    note: note.trim() === '' ? ['--clear'] : flag('text', note),
    mute: isClear ? [] : flag('until', until),
    resolve: isClear ? [] : flag('link', link.trim()),
  }[verb]
  const targetWords = 'id' in target ? [target.id] : ['--queue', target.queue, '--cause', target.cause]
  return (
    <ActionDialog<never, Triage>
      title={title}
      verb={isClear ? 'Take back' : title}
      scope={
        'id' in target
          ? `Dead letter ${target.id} alone`
          : `Every death of the cause ${target.cause.slice(0, 16)} in the queue ${target.queue}`
      }
      request={sent}
      run={(key) => ask(route, sent as never, { key }) as Promise<Triage>}
      done={(now) => <TriageSaid triage={now} />}
      copy={{
        cli: commandOf(
          'dlq',
          verb,
          ...targetWords,
          ...flags,
          ...(isClear ? ['--clear'] : []),
          ...flag('reason', reason.trim()),
        ),
        curl: curlOf(route, sent as never),
      }}
      onSettled={refresh}
      onClose={onClose}
    >
      <p className="action-text">{says}</p>
      {clear !== undefined && isSaid(verb, triage) && (
        <Checkbox label={clear} checked={isClear} onChange={({ currentTarget }) => setClear(currentTarget.checked)} />
      )}
      {verb === 'note' && (
        <Textarea
          label="Note"
          rows={4}
          maxLength={4_000}
          value={note}
          onChange={({ currentTarget }) => setNote(currentTarget.value)}
        />
      )}
      {verb === 'mute' && !isClear && (
        <NativeSelect
          label="For"
          data={UNTIL}
          value={until}
          onChange={({ currentTarget }) => setUntil(currentTarget.value)}
        />
      )}
      {verb === 'resolve' && !isClear && (
        <TextInput
          label="Where the fix is"
          placeholder="a link, or the number of a change"
          value={link}
          onChange={({ currentTarget }) => setLink(currentTarget.value)}
        />
      )}
      <ReasonField value={reason} onChange={setReason} />
    </ActionDialog>
  )
}

/** Whether there may be something to take back. */
function isSaid(verb: TriageVerb, triage: Triage | null | undefined): boolean {
  if (triage === undefined) return true
  if (triage === null) return false
  const { acknowledgedAt, mutedUntil, resolvedAt, note } = triage
  return { ack: acknowledgedAt, mute: mutedUntil, resolve: resolvedAt, note }[verb] !== null
}
