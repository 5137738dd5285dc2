import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Duty } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import { type Column, DataList } from '../../components/data-list/data-list.js'
import { Mark } from '../../components/mark.js'
import { Moment } from '../../components/moment.js'
import { Panel } from '../../components/page.js'
import { Loading, Problem } from '../../components/states.js'
import { UserText } from '../../components/user-text.js'
import { spoken } from '../../words.js'
import { changeOf } from '../changes/change.js'
import { ChangeDialog } from '../changes/change-dialog.js'
import { useCaller } from '../session/session.js'
import { standingOf } from './duty-standing.js'
import { dutiesQuery } from './queries.js'

/** What is done in the background, how it fares, and its brake. */
export function Duties() {
  const { data, error, refetch } = useQuery(dutiesQuery)
  const { may } = useCaller()
  const [open, setOpen] = useState<Duty>()
  const brake: Column<Duty> = {
    ...{ id: 'brake', header: 'Actions', width: '110px' },
    cell: (duty) => (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`${duty.pausedAt === null ? 'Pause' : 'Resume'} ${spoken(duty.duty)}`}
        onClick={() => setOpen(duty)}
      >
        {duty.pausedAt === null ? 'Pause …' : 'Resume …'}
      </Button>
    ),
  }
  return (
    <Panel title="Duties" summary="what is done in the background">
      {data === undefined ? (
        error === null ? (
          <Loading rows={6} />
        ) : (
          <Problem error={error} onRetry={refetch} isSmall />
        )
      ) : (
        <DataList
          label="Duties"
          rows={data}
          rowId={({ duty }) => duty}
          columns={may('operate') ? [...COLUMNS, brake] : COLUMNS}
          hasKeys={false}
        />
      )}
      {open !== undefined && <DutyDialog duty={open} onClose={() => setOpen(undefined)} />}
    </Panel>
  )
}

const COLUMNS: readonly Column<Duty>[] = [
  { id: 'duty', header: 'Duty', width: '20%', onPhone: 'title', cell: ({ duty }) => spoken(duty) },
  {
    ...{ id: 'stands', header: 'Status', width: '120px' },
    cell: (duty) => {
      const { tone, word } = standingOf(duty)
      return <Mark tone={tone}>{word}</Mark>
    },
  },
  {
    ...{ id: 'last', header: 'Last success', width: '120px' },
    cell: ({ lastSuccessAt }) => <Moment at={lastSuccessAt} none="not yet" />,
  },
  {
    ...{ id: 'said', header: 'Said' },
    cell: ({ pausedBy, pausedReason, lastError, failures }) =>
      pausedBy === null ? (
        <UserText>{failures === 0 ? undefined : lastError}</UserText>
      ) : (
        <>
          by <UserText>{pausedBy}</UserText>
          {pausedReason !== null && (
            <>
              : <UserText>{pausedReason}</UserText>
            </>
          )}
        </>
      ),
  },
]

function DutyDialog({ duty: { duty, pausedAt }, onClose }: { duty: Duty; onClose: () => void }) {
  const [reason, setReason] = useState('')
  const isPaused = pausedAt !== null
  const verb = isPaused ? 'Resume' : 'Pause'
  return (
    <ChangeDialog<Duty>
      title={`${verb} a duty`}
      verb={verb}
      scope={`The duty ${spoken(duty)}. ${
        isPaused ? 'Its passes go on.' : 'Nobody begins another pass of it; one that is under way ends.'
      }`}
      change={changeOf(
        isPaused ? 'resumeDuty' : 'pauseDuty',
        { params: { duty }, body: because(reason) },
        commandOf('duties', verb.toLowerCase(), duty, ...flag('reason', reason.trim())),
      )}
      about={['duties']}
      done={(now) => <p>{`The duty ${spoken(duty)} ${now.pausedAt === null ? 'goes on' : 'is paused'} now.`}</p>}
      onClose={onClose}
    >
      <ReasonField value={reason} onChange={setReason} description="Shown beside the duty, and kept in the audit log" />
    </ChangeDialog>
  )
}
