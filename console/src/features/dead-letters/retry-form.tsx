import { Checkbox, NativeSelect, SegmentedControl, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { RetryFields } from './retry-terms.js'
import './retry-form.css'

const BUDGETS = [
  { value: 'fresh', label: 'All attempts again' },
  { value: 'keep', label: 'Those left' },
  { value: 'extra', label: 'Some more' },
]

const CONFLICTS = [
  { value: 'fail', label: 'Refuse those (fail)' },
  { value: 'skip', label: 'Leave those as they are (skip)' },
  { value: 'replace', label: 'Take its place (replace)' },
]

interface RetryFormProps {
  readonly fields: RetryFields
  readonly set: (change: Partial<RetryFields>) => void
  readonly problem: string | undefined
  /** Of many also how fast they go, and how many first. */
  readonly isMany: boolean
}

/** How dead letters are sent back to work. */
export function RetryForm({ fields, set, problem, isMany }: RetryFormProps) {
  const input = (key: TextKey, label: string, props: { type?: string; placeholder?: string; description?: string }) => (
    <TextInput
      label={label}
      value={fields[key]}
      onChange={({ currentTarget }) => set({ [key]: currentTarget.value })}
      {...props}
    />
  )
  return (
    <>
      <div>
        <div className="action-label">Attempts they get</div>
        <div className="retry-form-budget">
          <SegmentedControl
            size="xs"
            aria-label="Attempts they get"
            data={BUDGETS}
            value={fields.budget}
            onChange={(value) => set({ budget: value as RetryFields['budget'] })}
          />
          {fields.budget === 'extra' && (
            <TextInput
              type="number"
              min={1}
              aria-label="So many more"
              value={fields.extra}
              onChange={({ currentTarget }) => set({ extra: currentTarget.value })}
            />
          )}
        </div>
      </div>
      {isMany && (
        <More title="Pace">
          {input('rate', 'Rows a second', { type: 'number', placeholder: 'no limit' })}
          {input('canary', 'Canaries', { type: 'number', placeholder: 'none go first' })}
          {input('maxWaiting', 'Most waiting', { type: 'number', placeholder: '5000' })}
        </More>
      )}
      <More title="Changes to each job">
        {input('queue', 'Queue', { placeholder: 'where it died' })}
        {input('priority', 'Priority', { type: 'number', placeholder: 'as it is' })}
        {input('maxAttempts', 'Most attempts', { type: 'number', placeholder: 'as it is' })}
        {input('runAt', 'Run at', { type: 'datetime-local' })}
        {input('deadline', 'Deadline', { type: 'datetime-local' })}
      </More>
      <More title="Conflicts and limits">
        <NativeSelect
          label="Where another job has its unique key"
          data={CONFLICTS}
          value={fields.onConflict}
          onChange={({ currentTarget }) => set({ onConflict: currentTarget.value as RetryFields['onConflict'] })}
        />
        <Checkbox
          label="Also what came back too often for its queue (force)"
          checked={fields.force}
          onChange={({ currentTarget }) => set({ force: currentTarget.checked })}
        />
      </More>
      {input('reason', 'Reason', { description: 'Kept in the audit log and with the jobs' })}
      {problem !== undefined && (
        <p className="action-danger" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}

type TextKey = Exclude<keyof RetryFields, 'force' | 'budget' | 'onConflict'>

function More({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details className="retry-form-more">
      <summary>{title}</summary>
      <div>{children}</div>
    </details>
  )
}
