import { NotYet } from '../components/not-yet.js'

export default function Operation() {
  return <NotYet title="Operation" command="npx spillway operations get ID" />
}
