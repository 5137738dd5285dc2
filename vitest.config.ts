import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const src = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))

/** Tests say `spillway` as users do, and mean the sources. Longest first: the shortest is a prefix of the others. */
const alias = [
  { find: /^spillway\/testing$/, replacement: src('testing/index.ts') },
  { find: /^spillway\/embedded$/, replacement: src('embedded/index.ts') },
  { find: /^spillway\/http$/, replacement: src('http/index.ts') },
  { find: /^spillway$/, replacement: src('index.ts') },
]

const database = { globalSetup: ['test/support/global-setup.ts'] }

export default defineConfig({
  resolve: { alias },
  test: {
    maxWorkers: 2,
    coverage: { provider: 'v8', include: ['src/**/*.ts'], exclude: ['src/**/*.test.ts'] },
    projects: [
      {
        extends: true,
        test: {
          // Rules of the domain and of the repository: no database, milliseconds.
          name: 'pure',
          include: ['{src,console/src}/**/*.test.ts', 'test/architecture.test.ts', 'test/docs.test.ts'],
          // For a busy machine: these take milliseconds on an idle one.
          testTimeout: 20_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          // A real database; one of its own for each file, so files run side by side.
          ...database,
          name: 'store',
          include: [
            'test/{store,worker,client,cli,embedded,maintenance,operations,metrics,pooler,upgrade,http}/**/*.test.ts',
            'test/*.test.ts',
          ],
          exclude: ['test/architecture.test.ts', 'test/docs.test.ts'],
          // For a busy machine: some start a dozen processes of their own.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          // The built console in a real browser: `npm run build` first. A browser takes a core, so one file at a time.
          ...database,
          name: 'console',
          include: ['test/console/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: {
          // Real processes, killed: one file at a time, so that a slow neighbour is never mistaken for a dead one.
          ...database,
          name: 'crash',
          include: ['test/crash/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 120_000,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
