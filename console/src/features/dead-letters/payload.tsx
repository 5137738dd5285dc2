import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { JsonView } from '../../components/json-view.js'
import { Panel } from '../../components/page.js'
import { saveAs } from '../../components/save-as.js'
import { Loading, Problem } from '../../components/states.js'
import { exactJson } from '../../exact-json.js'
import { useCaller } from '../session/session.js'
import { payloadQuery } from './detail-queries.js'
import { PayloadEditor } from './payload-editor.js'
import { PayloadVersions } from './payload-versions.js'
import './payload.css'

const MASK = '[masked]'

/** What the job was given: shown to whoever may see it, when they ask for it; each look is noted. */
export function Payload({ id }: { id: string }) {
  const { may } = useCaller()
  const [isAsked, setAsked] = useState(false)
  const [view, setView] = useState<'payload' | 'edit' | 'versions'>('payload')
  const { data, error, refetch } = useQuery({ ...payloadQuery(id), enabled: isAsked })
  if (!may('payload:read'))
    return (
      <Panel title="Payload">
        <p className="payload-part quiet">Shown to whoever has the right payload:read.</p>
      </Panel>
    )
  const text = data === undefined ? '' : (exactJson(data.payload, 2) ?? 'null')
  return (
    <Panel
      title="Payload"
      actions={
        data !== undefined &&
        view === 'payload' && (
          <>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => saveAs(`job-${id}.json`, text, 'application/json')}
            >
              Download
            </Button>
            <Button size="compact-sm" variant="default" onClick={() => setView('versions')}>
              Versions
            </Button>
            {may('edit') && (
              <Button size="compact-sm" onClick={() => setView('edit')}>
                Edit
              </Button>
            )}
          </>
        )
      }
    >
      {!isAsked ? (
        <div className="payload-part payload-ask">
          <Button size="compact-sm" variant="default" onClick={() => setAsked(true)}>
            Show the payload
          </Button>
          <span className="small quiet">Each look is noted in the audit log.</span>
        </div>
      ) : data === undefined && error !== null ? (
        <Problem error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <Loading rows={4} />
      ) : view === 'edit' ? (
        <PayloadEditor id={id} before={text} onClose={() => setView('payload')} />
      ) : view === 'versions' ? (
        <PayloadVersions id={id} onClose={() => setView('payload')} />
      ) : (
        <div className="payload-part">
          {text.includes(MASK) && (
            <p className="small quiet">
              What is secret is shown as <code>{MASK}</code>. The job itself has the value.
            </p>
          )}
          <JsonView value={data.payload} label="Payload" />
        </div>
      )}
    </Panel>
  )
}
