// Before anything is drawn, so that nobody who works in the dark is dazzled first.
;(() => {
  let chosen
  try {
    chosen = localStorage.getItem('spillway-color-scheme')
  } catch {
    // Storage is off: the system's choice it is.
  }
  const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light')
})()
