import type { Total } from '../../api.js'
import { commandOf, curlOf, flag } from '../../command-text.js'
import { ActionDialog } from '../../components/action/action-dialog.js'
import { saveAs } from '../../components/save-as.js'
import { fileOf } from '../../server.js'
import { count } from '../../words.js'
import { ScopeText } from './scope-text.js'
import type { DlqFilter } from './search.js'

interface ExportDialogProps {
  readonly filter: DlqFilter
  readonly total: Total
  readonly onClose: () => void
}

/** Hands everything that matches to the browser as a file of NDJSON. */
export function ExportDialog({ filter, total, onClose }: ExportDialogProps) {
  const sent = { body: filter as never }
  const flags = Object.entries(filter).flatMap(([name, value]) => flag(name, value))
  return (
    <ActionDialog<never, Blob>
      title="Export dead letters"
      verb="Download"
      scope={<ScopeText scope={{ selector: filter }} total={total} />}
      request={filter}
      run={async (key) => {
        const file = await fileOf('exportDlq', sent, { key })
        saveAs('dead-letters.ndjson', file)
        return file
      }}
      done={(file) => `${count(file.size)} bytes are downloaded. The dead letters stay where they are.`}
      copy={{ cli: `${commandOf('dlq', 'export', ...flags)} > dead-letters.ndjson`, curl: curlOf('exportDlq', sent) }}
      onSettled={() => undefined}
      onClose={onClose}
    >
      <p className="action-text">
        One JSON document a line, with payloads and histories; what is masked stays masked. It is noted in the audit
        log. “dlq import” stores them again.
      </p>
    </ActionDialog>
  )
}
