import { NotYet } from '../components/not-yet.js'

export default function Audit() {
  return <NotYet title="Audit" command="npx spillway audit list" />
}
