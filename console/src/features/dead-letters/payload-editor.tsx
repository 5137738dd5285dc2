import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { Loading } from '../../components/states.js'
import { parseExactly } from '../../exact-json.js'
import { PayloadDialog } from './payload-dialog.js'

const JsonEditor = lazy(() => import('../../components/json-editor/json-editor.js'))

interface PayloadEditorProps {
  readonly id: string
  readonly before: string
  readonly onClose: () => void
}

/** Edits a payload. Nothing is sent before what has changed was shown; what was typed stays whatever the server says. */
export function PayloadEditor({ id, before, onClose }: PayloadEditorProps) {
  const [text, setText] = useState(before)
  const [isReviewing, setReviewing] = useState(false)
  const problem = problemOf(text)
  return (
    <div className="payload-part">
      <Suspense fallback={<Loading rows={5} what="Loading the editor" />}>
        <JsonEditor label="Payload as JSON" text={before} onChange={setText} />
      </Suspense>
      {problem !== undefined && (
        <p className="action-danger" role="alert">
          Not JSON yet: {problem}
        </p>
      )}
      <div className="payload-buttons">
        <Button
          size="compact-sm"
          disabled={problem !== undefined || text === before}
          onClick={() => setReviewing(true)}
        >
          Review the change …
        </Button>
        <Button size="compact-sm" variant="default" onClick={onClose}>
          {text === before ? 'Close' : 'Drop the change'}
        </Button>
        <span className="small quiet">Masked places that are left as they are keep their value.</span>
      </div>
      {isReviewing && (
        <PayloadDialog
          id={id}
          before={before}
          after={text}
          onClose={(isSaved) => {
            setReviewing(false)
            if (isSaved) onClose()
          }}
        />
      )}
    </div>
  )
}

function problemOf(text: string): string | undefined {
  try {
    parseExactly(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
