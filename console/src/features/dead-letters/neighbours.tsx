import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { DeadLetter, Job } from '../../api.js'
import { Icon } from '../../components/icon.js'
import { Moment } from '../../components/moment.js'
import { useShortcut } from '../../components/shortcuts.js'
import { Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { neighboursQuery } from './detail-queries.js'
import './neighbours.css'

const SHOWN = 6

/** Those that died of the same cause in the same queue: the one before, the one after, and a few more. */
export function Neighbours({ job }: { job: Job }) {
  const { queue, dlq } = job
  const cause = dlq?.cause ?? ''
  const { data, error, refetch } = useQuery({
    ...neighboursQuery(job.id, queue, cause, dlq?.dlqAt ?? new Date(0)),
    enabled: dlq !== null,
  })
  const navigate = useNavigate()
  const go = (to: DeadLetter) => void navigate({ to: '/dlq/$id', params: { id: to.id } })
  const newer = data?.newer
  const older = data?.older[0]
  const key = (keys: string, label: string, to: DeadLetter | undefined) =>
    to === undefined ? undefined : { keys, label, group: 'Dead letter', run: () => go(to) }
  useShortcut(key('p', 'The newer one of the same cause', newer))
  useShortcut(key('n', 'The older one of the same cause', older))
  if (error !== null) return <Problem error={error} onRetry={refetch} />
  if (data === undefined) return <Loading rows={3} />
  return (
    <div className="neighbours">
      <div className="neighbours-way">
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Icon name="left" size={13} />}
          disabled={newer === undefined}
          onClick={() => newer !== undefined && go(newer)}
        >
          Newer
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          rightSection={<Icon name="right" size={13} />}
          disabled={older === undefined}
          onClick={() => older !== undefined && go(older)}
        >
          Older
        </Button>
        <Link to="/dlq" search={{ queue, cause }}>
          All of this cause
        </Link>
      </div>
      {data.isFarFromNewest && <p className="small quiet">Many are newer: the list of the cause has them.</p>}
      {newer === undefined && older === undefined && !data.isFarFromNewest ? (
        <p className="quiet">It is the only one that died of this.</p>
      ) : (
        <ul>
          {[...(newer === undefined ? [] : [newer]), ...data.older].slice(0, SHOWN).map((it) => (
            <li key={it.id}>
              <Link to="/dlq/$id" params={{ id: it.id }}>
                {it.id}
              </Link>
              <span className="neighbours-error">
                <UserText>{it.dlq?.errorMessage ?? it.dlq?.errorClass}</UserText>
              </span>
              <Moment at={it.dlq?.dlqAt} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
