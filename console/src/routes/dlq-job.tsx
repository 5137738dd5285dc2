import { NotYet } from '../components/not-yet.js'

export default function DlqJob() {
  return <NotYet title="Dead letter" command="npx spillway dlq get ID" />
}
