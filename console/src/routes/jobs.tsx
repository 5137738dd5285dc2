import { NotYet } from '../components/not-yet.js'

export default function Jobs() {
  return <NotYet title="Jobs" command="npx spillway jobs list" />
}
