import { ActionIcon, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Icon } from '../../components/icon.js'
import { Mark, type Tone } from '../../components/mark.js'
import { useShortcut } from '../../components/shortcuts.js'
import { type LiveState, useLive } from '../../live.js'
import { AccountMenu } from './account-menu.js'
import { HelpDialog } from './help-dialog.js'
import { SchemeMenu } from './scheme-menu.js'
import { Search } from './search.js'
import './header.css'

export function Header({ isMenuOpen, onMenu }: { isMenuOpen: boolean; onMenu: () => void }) {
  const [isHelping, setHelping] = useState(false)
  useShortcut({ keys: '?', label: 'This help', group: 'Everywhere', run: () => setHelping(true) })
  return (
    <header className="header">
      <ActionIcon
        className="header-menu"
        variant="subtle"
        color="gray"
        aria-label="Menu"
        aria-expanded={isMenuOpen}
        aria-controls="navigation"
        onClick={onMenu}
      >
        <Icon name={isMenuOpen ? 'close' : 'menu'} />
      </ActionIcon>
      <Link to="/" className="header-name">
        Spillway
      </Link>
      <Search />
      <div className="header-right">
        <LiveMark state={useLive()} />
        <SchemeMenu />
        <Button
          className="header-help"
          size="compact-sm"
          variant="subtle"
          color="gray"
          aria-label="Keyboard shortcuts"
          onClick={() => setHelping(true)}
        >
          ?
        </Button>
        <AccountMenu />
      </div>
      {isHelping && <HelpDialog onClose={() => setHelping(false)} />}
    </header>
  )
}

const LIVE: Readonly<Record<LiveState, { readonly tone: Tone; readonly word: string; readonly title: string }>> = {
  live: { tone: 'good', word: 'Live', title: 'What happens is shown as it happens' },
  polling: { tone: 'busy', word: 'Every 5 s', title: 'The server is asked every five seconds' },
  paused: { tone: 'quiet', word: 'Paused', title: 'Nothing is asked while the page is hidden' },
  offline: { tone: 'bad', word: 'Offline', title: 'There is no network: what is shown may be old' },
}

function LiveMark({ state }: { state: LiveState }) {
  const { tone, word, title } = LIVE[state]
  return (
    <span className="header-live" role="status" aria-label={`Updates: ${word}`}>
      <Mark tone={tone} title={title}>
        {word}
      </Mark>
    </span>
  )
}
