// `node scripts/crash-rounds.mjs [vitest options]`: the crash suites with 50 kill rounds and 100 cuts of each kind. Run
// it after a change to claims, settles or the rescue; it takes a quarter of an hour on two cores.
import { runCrashSuites } from './crash-suites.mjs'

runCrashSuites('long')
