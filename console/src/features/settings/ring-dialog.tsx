import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Ring } from '../../api.js'
import { commandOf, flag } from '../../command-text.js'
import { because, ReasonField } from '../../components/action/reason-field.js'
import type { Sent } from '../../server.js'
import { counted, durationText, lengthOf } from '../../words.js'
import { changeOf } from '../changes/change.js'
import { ChangeDialog } from '../changes/change-dialog.js'
import { FromTo } from '../changes/from-to.js'

type Body = Sent<'setRing'>['body']

const HOLDS: Readonly<Record<Ring['ring'], string>> = {
  ready: 'jobs that can be claimed',
  leases: 'jobs that are running',
}

/** Changes when the slots of a ring are left for the next one. */
export function RingDialog({ ring: now, onClose }: { ring: Ring; onClose: () => void }) {
  // What the dialog is about stays, although the ring is another once it is set.
  const [{ ring, rotateRows, rotateMs }] = useState(now)
  const [rows, setRows] = useState(String(rotateRows))
  const [after, setAfter] = useState(durationText(rotateMs))
  const [reason, setReason] = useState('')
  const settings = [
    { key: 'rotate_rows', flag: 'rotate-rows', label: 'Rows', before: String(rotateRows), after: rows.trim() },
    { key: 'rotate_after', flag: 'rotate-after', label: 'Age', before: durationText(rotateMs), after: after.trim() },
  ] as const
  const changed = settings.filter((it) => it.after !== it.before)
  const body = {
    // What is no number goes as it was typed: the server says what is wrong with it.
    ...Object.fromEntries(
      changed.map((it) => [it.key, it.key === 'rotate_rows' && /^\d+$/.test(it.after) ? Number(it.after) : it.after]),
    ),
    ...because(reason),
  } as Body
  const flags = changed.flatMap((it) => flag(it.flag, it.after))
  return (
    <ChangeDialog<Ring>
      title="Tune a ring"
      verb="Tune"
      scope={
        <>
          The ring {ring}, in which {HOLDS[ring]} lie. From its next turn on, in every process, a slot is left for the
          next one after so many rows or so long, whichever is first. It changes how space is given back, and never what
          happens to a job.
          {changed.length > 0 && <FromTo differences={changed} />}
        </>
      }
      change={changeOf(
        'setRing',
        { params: { ring }, body },
        commandOf('rings', 'set', ring, ...flags, ...flag('reason', reason.trim())),
      )}
      isBlocked={changed.length === 0}
      about={['rings']}
      done={(set) => (
        <p>{`The ring ${ring} turns after ${counted(set.rotateRows, 'row')} or ${lengthOf(set.rotateMs)}.`}</p>
      )}
      onClose={onClose}
    >
      <TextInput
        label="Rows"
        description="100 to 10,000,000"
        inputMode="numeric"
        value={rows}
        onChange={({ currentTarget }) => setRows(currentTarget.value)}
      />
      <TextInput
        label="Age"
        description="As 10s or 5m, 1s to 24h"
        value={after}
        onChange={({ currentTarget }) => setAfter(currentTarget.value)}
      />
      <ReasonField value={reason} onChange={setReason} />
    </ChangeDialog>
  )
}
