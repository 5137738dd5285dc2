import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Panel } from '../../components/page.js'
import { Empty, Loading, Problem } from '../../components/states.js'
import { useCaller } from '../session/session.js'
import { undecodableListQuery, undecodableQuery } from './queries.js'
import { ReleaseUndecodableDialog } from './release-undecodable-dialog.js'
import { UndecodableGroups } from './undecodable-groups.js'
import { UndecodableJobs } from './undecodable-jobs.js'
import './sample.css'

/** Jobs whose payload no code could read, by kind and version, and how many would decode now. */
export function Undecodable() {
  const { may } = useCaller()
  const list = useQuery(undecodableListQuery)
  const isThere = (list.data?.items.length ?? 0) > 0
  const check = useQuery({ ...undecodableQuery, enabled: isThere })
  const [releasing, setReleasing] = useState<{ readonly kind: string }>()
  return (
    <Panel
      title="Undecodable"
      summary="payloads that no code could read, by kind and version"
      actions={
        isThere && (
          <Button size="compact-sm" variant="default" loading={check.isFetching} onClick={() => void check.refetch()}>
            Ask the workers again
          </Button>
        )
      }
    >
      {list.data === undefined ? (
        list.error === null ? (
          <Loading rows={4} />
        ) : (
          <Problem error={list.error} onRetry={list.refetch} />
        )
      ) : !isThere ? (
        <Empty title="Nothing is undecodable">Every payload that was claimed could be read.</Empty>
      ) : (
        <>
          {check.data !== undefined ? (
            <UndecodableGroups groups={check.data.groups} onRelease={may('operate') ? setReleasing : undefined} />
          ) : check.error === null ? (
            <Loading rows={3} what="Asking the workers which would decode now" />
          ) : (
            <Problem error={check.error} onRetry={check.refetch} />
          )}
          <UndecodableJobs jobs={list.data.items} />
          {list.data.cursor !== null && (
            <p className="sample-note">
              <Link to="/jobs" search={{ state: 'undecodable' }}>
                All of them, page by page
              </Link>
            </p>
          )}
        </>
      )}
      {releasing !== undefined && (
        <ReleaseUndecodableDialog which={releasing} onClose={() => setReleasing(undefined)} />
      )}
    </Panel>
  )
}
