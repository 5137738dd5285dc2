import { Checkbox, SegmentedControl, TextInput } from '@mantine/core'
import type { ActionFields, Budget } from './change-of-action.js'

const BUDGETS: readonly { readonly value: Budget; readonly label: string }[] = [
  { value: 'fresh', label: 'All attempts again' },
  { value: 'keep', label: 'Those it has left' },
  { value: 'one', label: 'One more' },
]

interface ActionFieldProps {
  readonly name: keyof ActionFields
  readonly fields: ActionFields
  readonly onChange: (fields: ActionFields) => void
}

/** One field of the dialog of an action, by its name. */
export function ActionField({ name, fields, onChange }: ActionFieldProps) {
  const set = (value: Partial<ActionFields>) => onChange({ ...fields, ...value })
  switch (name) {
    case 'budget':
      return (
        <div>
          <div className="action-label">Attempts it gets</div>
          <SegmentedControl
            size="xs"
            aria-label="Attempts it gets"
            data={[...BUDGETS]}
            value={fields.budget}
            onChange={(budget) => set({ budget: budget as Budget })}
          />
        </div>
      )
    case 'isForced':
      return (
        <Checkbox
          label="Also where it does not decode, or nobody can say"
          checked={fields.isForced}
          onChange={({ currentTarget }) => set({ isForced: currentTarget.checked })}
        />
      )
    case 'when':
      return (
        <TextInput
          label="When it is due"
          description="From now, as 5m or 2h, or a time as 2030-01-31T12:00:00Z"
          value={fields.when}
          onChange={({ currentTarget }) => set({ when: currentTarget.value })}
        />
      )
    case 'queue':
      return (
        <TextInput
          label="Queue"
          value={fields.queue}
          onChange={({ currentTarget }) => set({ queue: currentTarget.value })}
        />
      )
    case 'priority':
      return (
        <TextInput
          label="Priority"
          description="0 to 100; lower runs first"
          inputMode="numeric"
          value={fields.priority}
          onChange={({ currentTarget }) => set({ priority: currentTarget.value })}
        />
      )
    default:
      return null
  }
}
