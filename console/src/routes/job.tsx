import { NotYet } from '../components/not-yet.js'

export default function Job() {
  return <NotYet title="Job" command="npx spillway jobs get ID" />
}
