import { Button, Menu, NativeSelect, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Icon } from './icon.js'
import { seen } from './user-text.js'
import './filter-chips.css'

export interface Filter<K extends string> {
  readonly key: K
  readonly label: string
  /** What can be chosen; any text where it is left out. */
  readonly options?: readonly string[]
  readonly placeholder?: string
  /** How a value is shown. Default: as it is. */
  readonly show?: (value: string) => string
}

interface FilterChipsProps<K extends string> {
  readonly filters: readonly Filter<K>[]
  readonly values: { readonly [P in K]?: string | undefined }
  /** Undefined takes a filter away. The caller puts it into the address. */
  readonly onChange: (key: K, value: string | undefined) => void
  readonly onClear: () => void
}

/** What a list is narrowed to: a chip for each filter that is set, and a menu of the others. */
export function FilterChips<K extends string>({ filters, values, onChange, onClear }: FilterChipsProps<K>) {
  const [adding, setAdding] = useState<Filter<K>>()
  const set = filters.filter(({ key }) => values[key] !== undefined)
  const others = filters.filter(({ key }) => values[key] === undefined)
  return (
    <div className="filter-chips" role="group" aria-label="Filters">
      {set.map(({ key, label, show }) => {
        const value = values[key] ?? ''
        return (
          <span key={key} className="filter-chip">
            <span className="filter-chip-label">{label}</span>
            <bdi className="filter-chip-value">{seen(show?.(value) ?? value)}</bdi>
            <button
              type="button"
              aria-label={`Remove the filter ${label} ${value}`}
              onClick={() => onChange(key, undefined)}
            >
              <Icon name="close" size={12} />
            </button>
          </span>
        )
      })}
      {adding !== undefined && (
        <NewFilter
          filter={adding}
          onDone={(value) => {
            setAdding(undefined)
            if (value !== undefined) onChange(adding.key, value)
          }}
        />
      )}
      {adding === undefined && others.length > 0 && (
        <Menu position="bottom-start" withinPortal={false}>
          <Menu.Target>
            <Button size="compact-sm" variant="default" leftSection={<Icon name="plus" size={13} />}>
              Filter
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {others.map((filter) => (
              <Menu.Item key={filter.key} onClick={() => setAdding(filter)}>
                {filter.label}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      {set.length > 0 && (
        <Button size="compact-sm" variant="subtle" onClick={onClear}>
          Clear
        </Button>
      )}
    </div>
  )
}

function NewFilter<K extends string>({ filter, onDone }: { filter: Filter<K>; onDone: (value?: string) => void }) {
  const { label, options, placeholder } = filter
  const [value, setValue] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onDone(value.trim() === '' ? undefined : value.trim())
  }
  const cancel = (key: string) => {
    if (key === 'Escape') onDone()
  }
  return (
    <form className="filter-chip-new" onSubmit={submit} onKeyDown={({ key }) => cancel(key)}>
      {options === undefined ? (
        <TextInput
          size="xs"
          autoFocus
          aria-label={label}
          placeholder={placeholder ?? label}
          value={value}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
        />
      ) : (
        <NativeSelect
          size="xs"
          autoFocus
          aria-label={label}
          data={[{ value: '', label: `${label} …` }, ...options]}
          value={value}
          onChange={({ currentTarget }) => onDone(currentTarget.value)}
        />
      )}
      <Button size="compact-sm" type="submit">
        Apply
      </Button>
      <Button size="compact-sm" variant="subtle" onClick={() => onDone()}>
        Cancel
      </Button>
    </form>
  )
}
