import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  // Every file is named relative to the page, whose <base> the server writes: so it works under any path.
  base: './',
  plugins: [react()],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the page allows no data: for scripts, styles and fonts.
    assetsInlineLimit: 0,
    // Which file loads which: for whoever measures what comes first.
    manifest: 'manifest.json',
    // The entry is bounded in what counts, its zipped size, by test/console/budget.test.ts.
    chunkSizeWarningLimit: 800,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: Object.fromEntries(['/api', '/meta'].map((path) => [path, 'http://127.0.0.1:8080'])),
  },
})
