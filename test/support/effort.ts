/**
 * How hard the crash suites try. `npm test` proves the kind of fault in a minute or two; `scripts/crash-rounds.mjs` and
 * `npm run chaos` repeat it until luck has no part in it.
 */
const EFFORTS = {
  short: { killRounds: 5, cuts: 10, terms: 15, restarts: 2 },
  long: { killRounds: 50, cuts: 100, terms: 200, restarts: 5 },
  chaos: { killRounds: 200, cuts: 100, terms: 200, restarts: 20 },
}

/** Chosen by the variable SPILLWAY_EFFORT; default `short`. */
export const effort = EFFORTS[(process.env['SPILLWAY_EFFORT'] ?? 'short') as keyof typeof EFFORTS]
if (effort === undefined) throw new Error(`SPILLWAY_EFFORT is one of ${Object.keys(EFFORTS).join(', ')}`)
