import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { JsonView } from '../../components/json-view.js'
import { Loading, Problem } from '../../components/states.js'
import { useCaller } from '../session/session.js'
import { sampleQuery } from './queries.js'
import './sample.css'

/** The payload of the jobs, when it is asked for. */
export function Sample({ fingerprint }: { fingerprint: string }) {
  const { may } = useCaller()
  const [isOpen, setOpen] = useState(false)
  const { data, error, refetch } = useQuery({ ...sampleQuery(fingerprint), enabled: isOpen })
  if (!may('payload:read')) return <p className="sample-note">Payloads need the right payload:read.</p>
  if (!isOpen)
    return (
      <div className="sample-note">
        <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
          Show the payload
        </Button>
        <span className="small quiet">Each look is noted in the audit log.</span>
      </div>
    )
  if (data === undefined)
    return error === null ? <Loading rows={3} /> : <Problem error={error} onRetry={refetch} isSmall />
  return <JsonView value={data.payload} label="Payload of the fingerprint" />
}
