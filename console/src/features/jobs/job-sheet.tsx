import { ActionIcon } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Icon } from '../../components/icon.js'
import { useShortcut } from '../../components/shortcuts.js'
import { JobView } from './job-view.js'
import './job-sheet.css'

/** One job beside the list it was opened from. */
export function JobSheet({ id, onClose }: { id: string; onClose: () => void }) {
  useShortcut({ keys: 'Escape', label: 'Close the sheet', group: 'Lists', run: onClose })
  return (
    <aside className="job-sheet" aria-label={`Job ${id}`}>
      <div className="job-sheet-head">
        <h2>Job {id}</h2>
        <Link to="/jobs/$id" params={{ id }}>
          Open as a page
        </Link>
        <ActionIcon variant="subtle" color="gray" aria-label="Close the sheet" onClick={onClose}>
          <Icon name="close" />
        </ActionIcon>
      </div>
      <JobView id={id} />
    </aside>
  )
}
