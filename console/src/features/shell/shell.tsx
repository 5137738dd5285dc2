import { Outlet, useRouter } from '@tanstack/react-router'
import { type MouseEvent, useEffect, useState } from 'react'
import { useCaller } from '../session/session.js'
import { Header } from './header.js'
import { Navigation } from './navigation.js'
import './shell.css'

/** What stands around every screen. */
export function Shell() {
  const router = useRouter()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const { isOpen, isReadOnly } = useCaller()
  useEffect(
    () =>
      router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
        setMenuOpen(false)
        // Whoever follows a link begins at the title of what it led to.
        if (fromLocation !== undefined && pathChanged) focusOn('main h1')
      }),
    [router],
  )
  const skip = (event: MouseEvent) => {
    // With a <base> in the page, `#main` would be another page.
    event.preventDefault()
    focusOn('main')
  }
  return (
    <div className="shell">
      {/* biome-ignore lint/a11y/useValidAnchor: it is a link, which the page's <base> would lead elsewhere. */}
      <a className="shell-skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Header isMenuOpen={isMenuOpen} onMenu={() => setMenuOpen(!isMenuOpen)} />
      <Navigation isOpen={isMenuOpen} />
      <main id="main" tabIndex={-1}>
        {isOpen && (
          <p className="shell-banner">
            This server is open: whoever can run programs on this machine may do anything with it.{' '}
            <code>spillway serve --auth</code> asks for tokens.
          </p>
        )}
        {isReadOnly && (
          <p className="shell-banner">This server is read-only: it shows everything, and changes nothing.</p>
        )}
        <Outlet />
      </main>
    </div>
  )
}

function focusOn(selector: string): void {
  document.querySelector<HTMLElement>(selector)?.focus({ preventScroll: false })
}
