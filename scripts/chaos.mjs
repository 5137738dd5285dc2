// `npm run chaos [-- vitest options]`: the crash suites with 200 kill rounds. For the night before a release.
import { runCrashSuites } from './crash-suites.mjs'

runCrashSuites('chaos')
