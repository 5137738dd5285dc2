import { Link, useParams } from '@tanstack/react-router'
import { Page } from '../../components/page.js'
import { JobView } from './job-view.js'

/** One job on a page of its own. */
export function JobPage() {
  const { id } = useParams({ from: '/jobs/$id' })
  return (
    <Page title={`Job ${id}`} actions={<Link to="/jobs">All jobs</Link>}>
      <JobView id={id} />
    </Page>
  )
}
