import { Page } from '../../components/page.js'
import { Quarantine } from './quarantine.js'
import { Undecodable } from './undecodable.js'

/** What is held until somebody lets it go: suspected of killing workers, or not to be read by this code. */
export function Held() {
  return (
    <Page title="Held">
      <Quarantine />
      <Undecodable />
    </Page>
  )
}
