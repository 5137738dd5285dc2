import { ActionIcon, Menu } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Icon } from '../../components/icon.js'
import { UserText } from '../../components/user-text.js'
import { signOut, useCaller } from '../session/session.js'

/** Who is signed in, and the way out. Not there where the server asks nobody. */
export function AccountMenu() {
  const queries = useQueryClient()
  const { actor, isOpen, queues } = useCaller()
  if (isOpen) return null
  const leave = async () => {
    await signOut()
    await queries.resetQueries()
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Account">
          <Icon name="user" />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          Signed in as <UserText>{actor}</UserText>
          {queues !== null && ` · queues ${queues.join(', ')}`}
        </Menu.Label>
        <Menu.Item onClick={() => void leave()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
