import { useNavigate, useSearch } from '@tanstack/react-router'
import { useIsNarrow } from '../../components/narrow.js'
import { Page, Panel } from '../../components/page.js'
import { given } from '../../components/search-params.js'
import { JobFilters } from './filters.js'
import { JobSheet } from './job-sheet.js'
import { Rows } from './rows.js'
import { stateWord } from './state-mark.js'
import { StateTabs } from './state-tabs.js'
import './jobs.css'

/** Below it a job gets a page of its own. */
const NARROW_PX = 1_080

/** Jobs of every state, and one of them beside the list. */
export function Jobs() {
  const search = useSearch({ from: '/jobs' })
  const navigate = useNavigate({ from: '/jobs' })
  const isNarrow = useIsNarrow(NARROW_PX)
  const { cursor: _, job, ...filter } = search
  const sheet = isNarrow ? undefined : job
  return (
    <Page title="Jobs">
      <div className="jobs-columns" data-sheet={sheet !== undefined || undefined}>
        <Panel title={filter.state === undefined ? 'All states' : stateWord(filter.state)} summary="newest first">
          <StateTabs filter={filter} />
          <JobFilters filter={filter} onChange={(next) => void navigate({ search: next })} />
          <Rows search={search} isBeside={!isNarrow} />
        </Panel>
        {sheet !== undefined && (
          <JobSheet
            key={sheet}
            id={sheet}
            onClose={() => void navigate({ search: given({ ...search, job: undefined }), resetScroll: false })}
          />
        )}
      </div>
    </Page>
  )
}
