import { SegmentedControl, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Operation, Total } from '../../api.js'
import { commandOf, curlOf, flag } from '../../command-text.js'
import { ActionDialog } from '../../components/action/action-dialog.js'
import { given } from '../../components/search-params.js'
import { keys } from '../../keys.js'
import { counted, totalText } from '../../words.js'
import { beginBulk, previewBulk, type Scope } from '../operations/bulk.js'
import { Preview } from '../operations/preview.js'
import { filterText } from './filters.js'

const BUDGETS = {
  fresh: { label: 'All attempts again', budget: 'fresh' },
  keep: { label: 'Those it has left', budget: 'keep' },
  one: { label: 'One more', budget: { extra: 1 } },
} as const

type Budget = keyof typeof BUDGETS

interface RetryDialogProps {
  readonly scope: Scope
  readonly total: Total
  readonly onClose: () => void
}

/** Sends dead letters back to work: exactly those that its preview has shown. */
export function RetryDialog({ scope, total, onClose }: RetryDialogProps) {
  const queries = useQueryClient()
  const [chosen, setChosen] = useState<Budget>('fresh')
  const [reason, setReason] = useState('')
  const { budget } = BUDGETS[chosen]
  const terms = given({ budget, reason: reason.trim() })
  const refresh = () =>
    Promise.all(
      [keys.deadLetters(), keys.operations(), keys.jobs()].map((queryKey) => queries.invalidateQueries({ queryKey })),
    )
  return (
    <ActionDialog<Operation, Operation>
      title="Retry dead letters"
      verb="Retry"
      scope={<ScopeText scope={scope} total={total} />}
      request={{ scope, budget }}
      preview={{
        ask: (signal) => previewBulk('bulkRetryDlq', scope, { budget }, signal),
        show: (operation) => <Preview operation={operation} />,
      }}
      run={(key, preview) => beginBulk('bulkRetryDlq', preview as Operation, terms, key)}
      done={(operation) => (
        <p>
          <Link to="/operations/$id" params={{ id: operation.id }}>
            Operation {operation.id}
          </Link>{' '}
          sends {counted(operation.matched, 'dead letter')} back to work, at the pace at which workers take them. It
          goes on without this page, and can be paused or undone there.
        </p>
      )}
      copy={{ cli: cliOf(scope, chosen), curl: curlOf('bulkRetryDlq', { body: { ...scope, ...terms } as never }) }}
      onSettled={refresh}
      onClose={onClose}
    >
      <div>
        <div className="small quiet">Attempts they get</div>
        <SegmentedControl
          size="xs"
          aria-label="Attempts they get"
          data={Object.entries(BUDGETS).map(([value, { label }]) => ({ value, label }))}
          value={chosen}
          onChange={(value) => setChosen(value as Budget)}
        />
      </div>
      <TextInput
        label="Reason"
        description="Kept in the audit log and with the jobs"
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </ActionDialog>
  )
}

function ScopeText({ scope, total }: { scope: Scope; total: Total }) {
  if ('ids' in scope) return <>{counted(scope.ids.length, 'selected dead letter')}</>
  const { all: _, ...filter } = scope.selector
  const text = filterText(filter)
  return (
    <>
      {text === undefined ? 'Every dead letter there is' : `Every dead letter with ${text}`}: {totalText(total)}
    </>
  )
}

function cliOf(scope: Scope, budget: Budget): string {
  const how = flag('budget', budget === 'one' ? 'extra:1' : budget)
  // By ids the command line keeps the attempts left unless told otherwise, so that it is told in any case.
  if ('ids' in scope) return commandOf('jobs', 'bulk', 'retry', ...scope.ids, ...how)
  const { all, ...filter } = scope.selector
  const words = Object.entries(filter).flatMap(([name, value]) => flag(name, value))
  return commandOf('dlq', 'retry-bulk', ...words, ...(all ? ['--all'] : []), ...how)
}
