import { createTheme, localStorageColorSchemeManager, Menu, Modal } from '@mantine/core'

/** How Mantine's parts are made. Their colours are in styles/mantine.css, which nothing has to write while the page runs. */
export const theme = createTheme({
  fontFamily: 'system-ui, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  primaryColor: 'blue',
  primaryShade: 8,
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // What opens stands in the landmark of its button, and holds nothing but its items.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false, withinPortal: false } }),
    // Its heading is no banner of the page, and its cross says what it does.
    Modal: Modal.extend({
      defaultProps: {
        closeButtonProps: { 'aria-label': 'Dismiss' },
        attributes: { header: { role: 'presentation' } },
      },
    }),
  },
})

/** The same place that public/scheme.js reads before anything is drawn. */
export const colorSchemes = localStorageColorSchemeManager({ key: 'spillway-color-scheme' })
