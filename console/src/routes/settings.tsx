import { NotYet } from '../components/not-yet.js'

export default function Settings() {
  return <NotYet title="Settings" command="npx spillway tokens list" />
}
