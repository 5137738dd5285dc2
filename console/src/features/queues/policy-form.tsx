import { Button, Switch, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Queue } from '../../api.js'
import { useCaller } from '../session/session.js'
import { changedFields, POLICY_FIELDS, type PolicyField, type Typed, typedOf } from './policy.js'
import { PolicyDialog } from './policy-dialog.js'
import './policy-form.css'

const HINTS: Readonly<Record<PolicyField['type'], string | undefined>> = {
  ...{
    duration: '30d or 12h; none keeps them for good',
    length: '12h or 30m',
    number: undefined,
    limit: undefined,
    flag: undefined,
  },
}

/** The policy of a queue, to be changed by who may. What the server refuses is said at its field. */
export function PolicyForm({ queue }: { queue: Queue }) {
  const { may } = useCaller()
  const [typed, setTyped] = useState<Typed>(() => typedOf(queue.policy))
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({})
  const [isOpen, setOpen] = useState(false)
  const isFixed = !may('admin')
  const changed = changedFields(queue.policy, typed)
  const set = (key: string, value: string | boolean) => {
    setTyped({ ...typed, [key]: value })
    setErrors({})
  }
  return (
    <form
      className="policy-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (changed.length > 0) setOpen(true)
      }}
    >
      {POLICY_FIELDS.map((field) => (
        <Field
          key={field.key}
          field={field}
          value={typed[field.key] ?? ''}
          error={errors[field.path.join('.')]}
          isFixed={isFixed}
          onChange={(value) => set(field.key, value)}
        />
      ))}
      {!isFixed && (
        <div className="policy-form-foot">
          <Button type="submit" size="compact-sm" disabled={changed.length === 0}>
            Save …
          </Button>
          <Button
            size="compact-sm"
            variant="subtle"
            disabled={changed.length === 0}
            onClick={() => setTyped(typedOf(queue.policy))}
          >
            Take back
          </Button>
        </div>
      )}
      {isOpen && (
        <PolicyDialog
          queue={queue}
          typed={typed}
          onRefused={setErrors}
          onSaved={(policy) => setTyped(typedOf(policy))}
          onClose={() => setOpen(false)}
        />
      )}
    </form>
  )
}

interface FieldProps {
  readonly field: PolicyField
  readonly value: string | boolean
  readonly error: string | undefined
  readonly isFixed: boolean
  readonly onChange: (value: string | boolean) => void
}

function Field({ field: { label, description, type }, value, error, isFixed, onChange }: FieldProps) {
  if (typeof value === 'boolean')
    return (
      <Switch
        label={label}
        description={description}
        checked={value}
        disabled={isFixed}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    )
  return (
    <TextInput
      label={label}
      description={description ?? HINTS[type]}
      value={value}
      error={error}
      readOnly={isFixed}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
