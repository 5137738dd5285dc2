import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { CauseGroup } from '../../api.js'
import { Facts } from '../../components/facts.js'
import { Moment } from '../../components/moment.js'
import { Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { count, spoken } from '../../words.js'
import { StatusMark, Trend } from './causes.js'
import { groupsQuery } from './queries.js'
import { type DeadLetterAction, DeadLetterActions, DeadLetterDialog } from './selection-actions.js'
import { TriageMenu } from './triage-menu.js'
import { TriageSaid } from './triage-said.js'
import './detail.css'

const MANY = 1_000

/** One cause in one queue: how it stands with people, and what can be done with all of its deaths. */
export function CausePanel({ queue, cause }: { queue: string; cause: string }) {
  const { data, error, refetch } = useQuery(groupsQuery({ queue, kind: undefined }, MANY))
  const [open, setOpen] = useState<DeadLetterAction>()
  const group = data?.items.find((it) => it.cause === cause && it.queue === queue)
  return (
    <>
      {group === undefined ? (
        <Panel title="Cause">
          {data !== undefined ? (
            <p className="detail-text quiet">
              {data.cursor === null
                ? 'Nothing is dead of it in this queue.'
                : `It is not among the ${count(MANY)} most frequent of its queue; its rows are below.`}
            </p>
          ) : error === null ? (
            <Loading rows={2} />
          ) : (
            <Problem error={error} onRetry={refetch} />
          )}
        </Panel>
      ) : (
        <Panel
          title="Cause"
          summary={`${count(group.count)} dead of it`}
          actions={
            <>
              <TriageMenu label="Triage" target={{ queue, cause }} triage={group.triage} />
              <DeadLetterActions onChoose={setOpen} />
            </>
          }
        >
          <Said group={group} />
        </Panel>
      )}
      {/* Apart from the cause, which is gone when its last row is: the dialog still has to say what was done. */}
      {open !== undefined && (
        <DeadLetterDialog
          action={open}
          scope={{ selector: { queue, cause } }}
          total={group === undefined ? undefined : { count: group.count, estimate: false }}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}

function Said({ group }: { group: CauseGroup }) {
  const { title, errorClass, reason, kind, trend, firstAt, lastAt, triage } = group
  return (
    <>
      <div className="cause-said">
        <p>
          <UserText>{title ?? errorClass ?? spoken(reason)}</UserText>
        </p>
        <TriageSaid triage={triage} />
      </div>
      <Facts
        facts={[
          { label: 'Status', value: <StatusMark group={group} /> },
          { label: 'Kind', value: <UserText>{kind}</UserText> },
          { label: 'Reason', value: <UserText>{spoken(reason)}</UserText> },
          { label: 'Last 24 h', value: <Trend trend={trend} /> },
          { label: 'First', value: <Moment at={firstAt} /> },
          { label: 'Last', value: <Moment at={lastAt} /> },
        ]}
      />
    </>
  )
}
