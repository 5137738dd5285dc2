import { NotYet } from '../components/not-yet.js'

export default function Operations() {
  return <NotYet title="Operations" command="npx spillway operations list" />
}
