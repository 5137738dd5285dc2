import { useQuery } from '@tanstack/react-query'
import { Page } from '../../components/page.js'
import { metaQuery } from '../session/session.js'
import { Duties } from './duties.js'
import { Masks } from './masks.js'
import { Rings } from './rings.js'
import { ServerPanel } from './server-panel.js'
import { Tokens } from './tokens.js'
import { Webhooks } from './webhooks.js'

/** How the server is set up: who may come in, who is told, what is hidden, and what goes on in the background. */
export function Settings() {
  const { data } = useQuery(metaQuery)
  // On a server that changes nothing, too, an admin may look.
  const isAdmin = data?.rights.includes('admin') ?? false
  return (
    <Page title="Settings">
      <ServerPanel />
      {isAdmin && <Tokens />}
      {isAdmin && <Webhooks />}
      <Masks />
      <Duties />
      <Rings />
    </Page>
  )
}
