import { Link } from '@tanstack/react-router'
import { Page } from '../components/page.js'
import { Problem } from '../components/states.js'
import { Gate } from '../features/session/gate.js'
import { Shell } from '../features/shell/shell.js'
import { LiveProvider } from '../live.js'

export function Root() {
  return (
    <Gate>
      <LiveProvider>
        <Shell />
      </LiveProvider>
    </Gate>
  )
}

export function NotFound() {
  return (
    <Page title="Nothing here">
      <p>
        No page of the console has this address. <Link to="/">The overview</Link> has most things.
      </p>
    </Page>
  )
}

/** A fault of ours on one screen; the rest of the console goes on. */
export function Broken({ error, reset }: { error: unknown; reset: () => void }) {
  return (
    <Page title="This screen broke">
      <Problem error={error} onRetry={reset} />
    </Page>
  )
}
