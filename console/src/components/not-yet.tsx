import { Page } from './page.js'
import { Empty } from './states.js'

/** A screen that is planned and not there: says which command shows the same. */
export function NotYet({ title, command }: { title: string; command: string }) {
  return (
    <Page title={title}>
      <Empty title="This screen is not there yet">
        <code>{command}</code> shows the same.
      </Empty>
    </Page>
  )
}
