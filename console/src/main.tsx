import './styles/mantine.css'
import './styles/tokens.css'
import './styles/page.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { NowProvider } from './components/now.js'
import { ShortcutProvider } from './components/shortcuts.js'
import { styleNonce } from './place.js'
import { createQueries } from './query-client.js'
import { router } from './routes/tree.js'
import { colorSchemes, theme } from './theme.js'

// What keeps the page behind a dialog from scrolling writes a style, and looks for its nonce under this name.
Object.assign(window, { __webpack_nonce__: styleNonce })

// Each screen has a title of its own, and the first in the page is the one that counts.
document.querySelector('title')?.remove()

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      colorSchemeManager={colorSchemes}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
      getStyleNonce={() => styleNonce}
    >
      <QueryClientProvider client={createQueries()}>
        <NowProvider>
          <ShortcutProvider>
            <RouterProvider router={router} />
          </ShortcutProvider>
        </NowProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
