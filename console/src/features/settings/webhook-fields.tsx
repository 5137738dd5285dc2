import { Textarea, TextInput } from '@mantine/core'
import { type TypedWebhook, WEBHOOK_SETTINGS } from './webhook-settings.js'
import './webhook-fields.css'

interface WebhookFieldsProps {
  readonly typed: TypedWebhook
  readonly onChange: (typed: TypedWebhook) => void
  /** What is wrong with a field, by its key. */
  readonly errors?: Readonly<Record<string, string>>
}

/** Where a webhook sends to, what it is told of, and how. */
export function WebhookFields({ typed, onChange, errors = {} }: WebhookFieldsProps) {
  return (
    <div className="webhook-fields">
      {WEBHOOK_SETTINGS.map(({ key, label, description, placeholder, type }) => {
        const Field = type === 'list' ? Textarea : TextInput
        return (
          <Field
            key={key}
            label={label}
            description={description}
            placeholder={placeholder}
            error={errors[key]}
            value={typed[key] ?? ''}
            onChange={({ currentTarget }) => onChange({ ...typed, [key]: currentTarget.value })}
          />
        )
      })}
    </div>
  )
}
