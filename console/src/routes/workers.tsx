import { NotYet } from '../components/not-yet.js'

export default function Workers() {
  return <NotYet title="Workers" command="npx spillway workers list" />
}
