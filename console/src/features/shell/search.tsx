import { TextInput } from '@mantine/core'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useRef, useState } from 'react'
import { Icon } from '../../components/icon.js'
import { useShortcut } from '../../components/shortcuts.js'
import './search.css'

const ID = /^\d{1,19}$/

/** An id leads to its job; any other text narrows the list one is in, or the dead letters, to errors that have it. */
export function Search() {
  const navigate = useNavigate()
  const isInJobs = useLocation({ select: ({ pathname }) => pathname === '/jobs' })
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  useShortcut({ keys: '/', label: 'Search', group: 'Everywhere', run: () => input.current?.select() })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const wanted = text.trim()
    if (wanted === '') return
    setText('')
    if (ID.test(wanted)) await navigate({ to: '/jobs/$id', params: { id: wanted } })
    else if (isInJobs) await navigate({ to: '/jobs', search: { q: wanted } })
    else await navigate({ to: '/dlq', search: { error: wanted } })
  }
  return (
    <form role="search" className="search" onSubmit={(event) => void submit(event)}>
      <TextInput
        ref={input}
        size="xs"
        aria-label="Job id, or text of an error"
        placeholder="Job id or error text"
        maxLength={500}
        leftSection={<Icon name="search" size={14} />}
        rightSection={<kbd aria-hidden="true">/</kbd>}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
      />
    </form>
  )
}
