import { Link, useNavigate } from '@tanstack/react-router'
import { Icon } from '../../components/icon.js'
import { useShortcut } from '../../components/shortcuts.js'
import { PLACES } from './places.js'
import './navigation.css'

/** The way to every place; on a phone behind the button of the header. */
export function Navigation({ isOpen }: { isOpen: boolean }) {
  return (
    <nav id="navigation" className="navigation" aria-label="Main" data-open={isOpen || undefined}>
      <ul>
        {PLACES.map((place) => (
          <Place key={place.to} place={place} />
        ))}
      </ul>
    </nav>
  )
}

function Place({ place: { to, label, icon, key } }: { place: (typeof PLACES)[number] }) {
  const navigate = useNavigate()
  useShortcut({ keys: `g ${key}`, label, group: 'Go to', run: () => void navigate({ to }) })
  return (
    <li>
      <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
        <Icon name={icon} />
        {label}
      </Link>
    </li>
  )
}
