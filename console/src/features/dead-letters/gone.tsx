import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Page, Panel } from '../../components/page.js'
import { whyQuery } from '../jobs/queries.js'
import { Why } from '../jobs/why.js'
import { useCaller } from '../session/session.js'
import { MoveDialog } from './move-dialog.js'

/** Where a dead letter was that is none any more, or never was one: says where the job is now. */
export function Gone({ id }: { id: string }) {
  const { may } = useCaller()
  const { data } = useQuery(whyQuery(id))
  const [isMoving, setMoving] = useState(false)
  return (
    <Page title={`Job ${id}`} summary="is no dead letter">
      <Panel
        title="Where it is"
        actions={
          data?.state === 'failed' &&
          may('operate') && (
            <Button size="compact-sm" onClick={() => setMoving(true)}>
              Move into the dead-letter queue …
            </Button>
          )
        }
      >
        <Why id={id} />
        <p className="detail-text">
          {data !== undefined && (
            <>
              <Link to="/jobs/$id" params={{ id }}>
                The job
              </Link>
              {' · '}
            </>
          )}
          <Link to="/dlq">All dead letters</Link>
        </p>
      </Panel>
      {isMoving && <MoveDialog id={id} onClose={() => setMoving(false)} />}
    </Page>
  )
}
