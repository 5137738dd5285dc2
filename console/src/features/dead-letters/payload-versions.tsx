import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import type { Payloads } from '../../api.js'
import { JsonView } from '../../components/json-view.js'
import { Moment } from '../../components/moment.js'
import { Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { exactJson } from '../../exact-json.js'
import { count } from '../../words.js'
import { payloadsQuery } from './detail-queries.js'

const JsonDiff = lazy(() => import('../../components/json-editor/json-diff.js'))

/** Every payload the job had: the newest first, each with what it changed. */
export function PayloadVersions({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error, refetch } = useQuery(payloadsQuery(id))
  return (
    <div className="payload-part">
      {error !== null ? (
        <Problem error={error} onRetry={refetch} isSmall />
      ) : data === undefined ? (
        <Loading rows={4} />
      ) : data.length === 0 ? (
        <p>Nobody has edited it: it is as it was put in.</p>
      ) : (
        <Versions all={data} />
      )}
      <Button size="compact-sm" variant="default" onClick={onClose}>
        Back to the payload
      </Button>
    </div>
  )
}

function Versions({ all }: { all: Payloads }) {
  return (
    <ol className="payload-versions">
      {all.toReversed().map(({ version, payload, editedAt, editedBy, reason }, n) => {
        const older = all[all.length - 2 - n]
        return (
          <li key={version}>
            <h3>Version {count(version)}</h3>
            <p className="small quiet">
              {older === undefined ? 'As it was put in; kept' : 'Saved'} <Moment at={editedAt} isExact /> by{' '}
              <UserText>{editedBy}</UserText>
              {reason !== null && (
                <>
                  : <UserText>{reason}</UserText>
                </>
              )}
            </p>
            {older === undefined ? (
              <JsonView value={payload} label={`Payload of version ${version}`} />
            ) : (
              <Suspense fallback={<Loading rows={3} />}>
                <JsonDiff
                  label={`What version ${version} changed`}
                  before={exactJson(older.payload, 2)}
                  after={exactJson(payload, 2)}
                />
              </Suspense>
            )}
          </li>
        )
      })}
    </ol>
  )
}
