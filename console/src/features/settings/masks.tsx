import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import type { Answer } from '../../server.js'
import { changeOf } from '../actions/change.js'
import { ChangeDialog } from '../actions/change-dialog.js'
import { useCaller } from '../session/session.js'
import { masksQuery } from './queries.js'
import './masks.css'

/** What of payloads nobody is shown. */
export function Masks() {
  const { data, error, refetch } = useQuery(masksQuery)
  const { may } = useCaller()
  /** A path to be shown again, or `new`. */
  const [open, setOpen] = useState<{ readonly path: string } | 'new'>()
  return (
    <Panel
      title="Masking"
      summary="places of payloads that are shown to nobody"
      actions={
        may('admin') && (
          <Button size="compact-sm" variant="default" onClick={() => setOpen('new')}>
            Hide a place …
          </Button>
        )
      }
    >
      {data === undefined ? (
        error === null ? (
          <Loading rows={2} />
        ) : (
          <Problem error={error} onRetry={refetch} isSmall />
        )
      ) : (
        <ul className="masks">
          {data.items.map(({ path, createdBy }) => (
            <li key={path}>
              <code>
                <UserText>{path}</UserText>
              </code>{' '}
              <span className="small quiet">
                by <UserText>{createdBy}</UserText>
              </span>
              {may('admin') && (
                <Button
                  size="compact-xs"
                  variant="subtle"
                  aria-label={`Show ${path} again`}
                  onClick={() => setOpen({ path })}
                >
                  Show again …
                </Button>
              )}
            </li>
          ))}
          {data.byServer.map((path) => (
            <li key={`server ${path}`}>
              <code>{path}</code> <span className="small quiet">by how the server was started</span>
            </li>
          ))}
          <li className="small quiet">Keys that are hidden wherever they stand: {data.keys.join(', ')}</li>
        </ul>
      )}
      {open !== undefined && (
        <MaskDialog path={open === 'new' ? undefined : open.path} onClose={() => setOpen(undefined)} />
      )}
    </Panel>
  )
}

/** Hides a place, or shows the one that is named again. */
function MaskDialog({ path, onClose }: { path: string | undefined; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  const isNew = path === undefined
  const place = path ?? typed.trim()
  const cli = commandOf('masking', isNew ? 'add' : 'remove', place, ...flag('reason', reason.trim()))
  const change = isNew
    ? changeOf('addMask', { body: { path: place, ...because(reason) } }, cli)
    : changeOf('removeMask', { params: { path: place }, query: because(reason) }, cli)
  return (
    <ChangeDialog<Answer<'addMask'>>
      title={isNew ? 'Hide a place' : 'Show a place again'}
      verb={isNew ? 'Hide' : 'Show again'}
      scope={
        isNew ? (
          'From now on nobody is shown what stands there: not here, not by the API, not in exports.'
        ) : (
          <>
            <UserText>{place}</UserText>: whoever may read payloads sees it again.
          </>
        )
      }
      change={change}
      about={['masks', 'jobs', 'deadLetters', 'held', 'archive']}
      done={({ changed }) => (
        <p>{changed ? `${place} is ${isNew ? 'hidden' : 'shown'} now.` : `${place} was so before.`}</p>
      )}
      onClose={onClose}
    >
      {isNew && (
        <TextInput
          label="Place"
          description="Keys joined by dots; * for any key, ** for any number of them"
          placeholder="customer.email"
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      )}
      <ReasonField value={reason} onChange={setReason} />
    </ChangeDialog>
  )
}
