import { TextInput } from '@mantine/core'

interface ReasonFieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly description?: string
}

/** Why somebody does something; the API keeps it. */
export function ReasonField({ value, onChange, description = 'Kept in the audit log' }: ReasonFieldProps) {
  return (
    <TextInput
      label="Reason"
      description={description}
      maxLength={2_000}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}

/** The reason as a body has it: nothing where nothing was written. */
export function because(reason: string): { readonly reason?: string } {
  return reason.trim() === '' ? {} : { reason: reason.trim() }
}
