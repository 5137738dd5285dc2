import { useNavigate, useSearch } from '@tanstack/react-router'
import { Page, Panel } from '../../components/page.js'
import { given } from '../../components/search-params.js'
import { addressOf } from '../../place.js'
import { useCaller } from '../session/session.js'
import { ArchivedDialog } from './archived-dialog.js'
import { ArchiveFilters } from './filters.js'
import { Months } from './months.js'
import { Rows } from './rows.js'

/** What outlived its retention where the queue keeps a copy: found again, brought back, taken home, or removed by the month. */
export function Archive() {
  const { cursor: _, job, ...filter } = useSearch({ from: '/archive' })
  const navigate = useNavigate({ from: '/archive' })
  const { may } = useCaller()
  const search = useSearch({ from: '/archive' })
  const query = new URLSearchParams(filter as Record<string, string>).toString()
  return (
    <Page title="Archive">
      <Panel
        title="Archived jobs"
        summary="newest first"
        actions={
          may('payload:read') && (
            <a
              href={addressOf(`api/v1/archive/export${query === '' ? '' : `?${query}`}`)}
              download="archive.ndjson"
              title="Whole jobs, one JSON document a line. Noted in the audit log."
            >
              Export what matches
            </a>
          )
        }
      >
        <ArchiveFilters filter={filter} onChange={(next) => void navigate({ search: next })} />
        <Rows search={search} />
      </Panel>
      <Months />
      {job !== undefined && (
        <ArchivedDialog
          id={job}
          onClose={() => void navigate({ search: given({ ...search, job: undefined }), resetScroll: false })}
        />
      )}
    </Page>
  )
}
