import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Operation, Right, Total } from '../../api.js'
import { commandOf, curlOf, flag } from '../../command-text.js'
import { ActionDialog } from '../../components/action/action-dialog.js'
import { ReasonField } from '../../components/action/reason-field.js'
import { given } from '../../components/search-params.js'
import { Began } from '../operations/began.js'
import { type BulkName, beginBulk, previewBulk, type Scope, type Terms } from '../operations/bulk.js'
import { Preview } from '../operations/preview.js'
import { useRefreshDeadLetters } from './after.js'
import { ScopeText, scopeFlags } from './scope-text.js'

interface Removal {
  readonly route: BulkName
  readonly right: Right
  readonly title: string
  readonly verb: string
  readonly consequence: string
  readonly says: readonly [verb: string, says: string]
  /** There is no way back: it is said in red, and the number has to be typed. */
  readonly isFinal: boolean
}

/** What takes dead letters away. */
export const REMOVALS = {
  discard: {
    route: 'bulkDiscardDlq',
    right: 'operate',
    title: 'Discard dead letters',
    verb: 'Discard',
    consequence: 'They go into the bin, from which undoing the operation brings them back for 7 days.',
    says: ['puts', 'into the bin'],
    isFinal: false,
  },
  purge: {
    route: 'bulkPurgeDlq',
    right: 'purge',
    title: 'Purge dead letters',
    verb: 'Purge',
    consequence: 'They are deleted for good, with their payloads and everything kept about them. There is no way back.',
    says: ['deletes', 'for good'],
    isFinal: true,
  },
} as const satisfies Record<string, Removal>

export type RemovalName = keyof typeof REMOVALS

interface BulkDialogProps {
  readonly action: RemovalName
  readonly scope: Scope
  readonly total: Total
  readonly onClose: (isDone: boolean) => void
}

/** Takes dead letters away: exactly those that its preview has shown. */
export function BulkDialog({ action, scope, total, onClose }: BulkDialogProps) {
  const { route, title, verb, consequence, says, isFinal } = REMOVALS[action]
  const refresh = useRefreshDeadLetters()
  const [rate, setRate] = useState('')
  const [reason, setReason] = useState('')
  const isWrong = rate !== '' && !(Number(rate) > 0)
  const terms = given({ rate: rate === '' ? undefined : Number(rate), reason: reason.trim() }) as Terms
  return (
    <ActionDialog<Operation, Operation>
      title={title}
      verb={verb}
      scope={<ScopeText scope={scope} total={total} />}
      {...(isFinal ? { danger: consequence } : {})}
      typed={(preview) => (isFinal ? `purge ${preview?.matched ?? 0}` : undefined)}
      isBlocked={isWrong}
      request={{ scope, terms }}
      preview={{
        of: scope,
        ask: (signal) => previewBulk(route, scope, {}, signal),
        show: (operation) => <Preview operation={operation} />,
      }}
      run={(key, preview) => beginBulk(route, preview as Operation, terms, key)}
      done={(operation) => <Began operation={operation} verb={says[0]} says={says[1]} />}
      copy={{
        cli: commandOf('dlq', action, ...scopeFlags(scope), ...flag('rate', rate), ...flag('reason', reason.trim())),
        curl: curlOf(route, { body: { ...scope, ...terms } as never }),
      }}
      onSettled={refresh}
      onClose={onClose}
    >
      {!isFinal && <p className="action-text">{consequence}</p>}
      <TextInput
        type="number"
        label="Rows a second"
        placeholder="no limit"
        error={isWrong ? 'A number above 0' : undefined}
        value={rate}
        onChange={({ currentTarget }) => setRate(currentTarget.value)}
      />
      <ReasonField value={reason} onChange={setReason} />
    </ActionDialog>
  )
}
