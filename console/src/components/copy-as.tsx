import { Button } from '@mantine/core'
import { useState } from 'react'
import { Icon } from './icon.js'
import './copy-as.css'

interface CopyAsProps {
  /** The same on the command line. */
  readonly cli: string
  /** The same over HTTP. */
  readonly curl: string
}

/** What a button of the console does, as a command and as a request, for whoever wants it in a script or a runbook. */
export function CopyAs({ cli, curl }: CopyAsProps) {
  return (
    <div className="copy-as">
      <CopyButton text={cli} what="Copy as command" />
      <CopyButton text={curl} what="Copy as curl" />
    </div>
  )
}

/** Copies a text, and says that it did. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'refused'>('ready')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
    } catch {
      // Pages that came over plain HTTP from elsewhere have no clipboard: the text is shown to be marked instead.
      setState('refused')
    }
  }
  return (
    <>
      <Button
        size="compact-xs"
        variant="subtle"
        title={text}
        leftSection={<Icon name={state === 'copied' ? 'check' : 'copy'} size={13} />}
        onClick={() => void copy()}
      >
        {state === 'copied' ? 'Copied' : what}
      </Button>
      {state === 'refused' && <pre className="copy-as-text">{text}</pre>}
      <span className="unseen" role="status">
        {state === 'copied' ? 'Copied' : ''}
      </span>
    </>
  )
}
