import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { JsonView } from '../../components/json-view.js'
import { Loading, Problem } from '../../components/states.js'
import { useCaller } from '../session/session.js'
import { payloadQuery } from './queries.js'
import './payload.css'

/** The payload when it is asked for: each look stands in the audit log. Masked places stay masked. */
export function Payload({ id }: { id: string }) {
  const { may } = useCaller()
  const [isOpen, setOpen] = useState(false)
  const { data, error, refetch } = useQuery({ ...payloadQuery(id), enabled: isOpen })
  if (!may('payload:read')) return <p className="payload-note">Payloads need the right payload:read.</p>
  if (!isOpen)
    return (
      <div className="payload-note">
        <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
          Show the payload
        </Button>
        <span className="small quiet">Each look is noted in the audit log.</span>
      </div>
    )
  if (data === undefined)
    return error === null ? <Loading rows={3} /> : <Problem error={error} onRetry={refetch} isSmall />
  return <JsonView value={data.payload} label={`Payload of job ${id}`} />
}
