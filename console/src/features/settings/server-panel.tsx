import { useQuery } from '@tanstack/react-query'
import { Facts } from '../../components/facts.js'
import { Mark } from '../../components/mark.js'
import { Moment } from '../../components/moment.js'
import { Panel } from '../../components/page.js'
import { UserText } from '../../components/user-text.js'
import { useLive } from '../../live.js'
import { metaQuery } from '../session/session.js'

/** What the server says about itself, and about whoever looks. */
export function ServerPanel() {
  const { data } = useQuery(metaQuery)
  const live = useLive()
  if (data === undefined) return null
  const { version, authentication, readOnly, actor, role, rights, queues, expiresAt } = data
  const isOpen = authentication === 'none'
  return (
    <Panel title="Server and you">
      <Facts
        facts={[
          { label: 'Version', value: version },
          {
            label: 'Authentication',
            value: <Mark tone={isOpen ? 'warn' : 'good'}>{isOpen ? 'None: open to this machine' : 'Required'}</Mark>,
          },
          {
            label: 'Changes',
            value: <Mark tone={readOnly ? 'quiet' : 'good'}>{readOnly ? 'None: read only' : 'Accepted'}</Mark>,
          },
          { label: 'Updates', value: live },
          { label: 'You', value: <UserText empty="anybody">{actor}</UserText> },
          { label: 'Your role', value: role ?? 'none that has exactly these rights' },
          { label: 'Your rights', value: rights.join(', '), isWide: true },
          { label: 'Your queues', value: <UserText>{queues === null ? 'all' : queues.join(', ')}</UserText> },
          expiresAt !== null && { label: 'Signed in until', value: <Moment at={expiresAt} isExact /> },
        ]}
      />
    </Panel>
  )
}
