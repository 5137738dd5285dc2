import { NotYet } from '../components/not-yet.js'

export default function Queues() {
  return <NotYet title="Queues" command="npx spillway queues list" />
}
