import { Modal } from '@mantine/core'
import type { AuditEntry } from '../../api.js'
import { Facts } from '../../components/facts.js'
import { JsonView } from '../../components/json-view.js'
import { Moment } from '../../components/moment.js'
import { UserText } from '../../components/user-text.js'
import { spoken } from '../../words.js'

/** One entry of the audit log, whole. */
export function EntryDialog({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const { id, at, actor, action, target, reason, result, requestId } = entry
  return (
    <Modal opened className="audit-entry" title={`Audit entry ${id}`} size="lg" onClose={onClose}>
      <Facts
        facts={[
          { label: 'Action', value: <UserText>{spoken(action)}</UserText> },
          { label: 'Actor', value: <UserText>{actor}</UserText> },
          { label: 'When', value: <Moment at={at} isExact /> },
          { label: 'Reason', value: <UserText empty="none was given">{reason}</UserText> },
          requestId !== null && { label: 'Request', value: <UserText>{requestId}</UserText> },
        ]}
      />
      <h3>Target</h3>
      <JsonView value={target} label="Target" />
      <h3>Result</h3>
      <JsonView value={result} label="Result" />
    </Modal>
  )
}
