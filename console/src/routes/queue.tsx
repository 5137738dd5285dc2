import { NotYet } from '../components/not-yet.js'

export default function Queue() {
  return <NotYet title="Queue" command="npx spillway queues get QUEUE" />
}
