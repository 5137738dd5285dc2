import { NotYet } from '../components/not-yet.js'

export default function Quarantined() {
  return <NotYet title="Quarantined" command="npx spillway quarantine show FINGERPRINT" />
}
