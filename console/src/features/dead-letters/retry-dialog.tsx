import type { Operation, Total } from '../../api.js'
import { commandOf, curlOf } from '../../command-text.js'
import { ActionDialog } from '../../components/action/action-dialog.js'
import { Began } from '../operations/began.js'
import { beginBulk, previewBulk, type Scope } from '../operations/bulk.js'
import { Preview } from '../operations/preview.js'
import { useRefreshDeadLetters } from './after.js'
import { RetryForm } from './retry-form.js'
import { paceTermsOf, type RetryFields, retryFlagsOf, useRetryFields, whatTermsOf } from './retry-terms.js'
import { ScopeText, scopeFlags } from './scope-text.js'

interface RetryDialogProps {
  readonly scope: Scope
  readonly total: Total
  readonly onClose: (isDone: boolean) => void
}

/** Sends dead letters back to work: exactly those that its preview has shown. */
export function RetryDialog({ scope, total, onClose }: RetryDialogProps) {
  const refresh = useRefreshDeadLetters()
  const { fields, set, problem, shown, isSettled } = useRetryFields()
  const terms = { ...whatTermsOf(fields), ...paceTermsOf(fields) }
  return (
    <ActionDialog<Operation, Operation>
      title="Retry dead letters"
      verb="Retry"
      scope={<ScopeText scope={scope} total={total} />}
      request={{ scope, terms }}
      preview={{
        of: { scope, shown },
        ask: (signal) => previewBulk('bulkRetryDlq', scope, shown ?? {}, signal),
        show: (operation) => <Preview operation={operation} />,
      }}
      isBlocked={!isSettled}
      run={(key, preview) => beginBulk('bulkRetryDlq', preview as Operation, terms, key)}
      done={(operation) => (
        <Began operation={operation} says="back to work, at the pace at which workers take them" verb="sends" />
      )}
      copy={{ cli: cliOf(scope, fields), curl: curlOf('bulkRetryDlq', { body: { ...scope, ...terms } as never }) }}
      onSettled={refresh}
      onClose={onClose}
    >
      <RetryForm fields={fields} set={set} problem={problem} isMany={!('ids' in scope) || scope.ids.length > 1} />
    </ActionDialog>
  )
}

function cliOf(scope: Scope, fields: RetryFields): string {
  if (!('ids' in scope))
    return commandOf('dlq', 'retry-bulk', ...scopeFlags(scope), ...retryFlagsOf(fields, 'to-queue'))
  const [only, ...others] = scope.ids
  if (others.length === 0) return commandOf('dlq', 'retry', only, ...retryFlagsOf(fields, 'queue'))
  // By ids the command line keeps the attempts left unless told otherwise, so that it is told in any case.
  return commandOf('jobs', 'bulk', 'retry', ...scope.ids, ...retryFlagsOf(fields, 'to-queue'))
}
