import { NotYet } from '../components/not-yet.js'

export default function Held() {
  return <NotYet title="Held" command="npx spillway quarantine list" />
}
