import { NotYet } from '../components/not-yet.js'

export default function Archive() {
  return <NotYet title="Archive" command="npx spillway archive list" />
}
