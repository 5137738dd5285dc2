/** Longer than the gap after which the rescue trusts nobody's silence; one worker wakes up later than the leader. */
const LONG_AWAY = { heartbeat: 2_000, stale: 6_000, forMs: 25_000, asleepMs: 3_000 }

/** With the default heartbeat and stale time. */
const FIVE_MINUTES_AWAY = { heartbeat: 15_000, stale: 45_000, forMs: 300_000, asleepMs: 20_000 }

/** Rows of one redrive, how long everything runs at once, and random filters tried. */
const SHORT_BULK = { redriven: 5_000, togetherMs: 8_000, filters: 100 }
const LONG_BULK = { redriven: 100_000, togetherMs: 60_000, filters: 1_000 }

const MANY_EXPIRED = { expiredRows: 5_000_000, expiryMs: 1_800_000, planRows: 1_000_000 }

/**
 * How hard the crash suites try. `npm test` proves the kind of fault in a minute or two; `scripts/crash-rounds.mjs` and
 * `npm run chaos` repeat it until luck has no part in it.
 */
const EFFORTS = {
  short: {
    killRounds: 5,
    cuts: 10,
    terms: 15,
    restarts: 2,
    away: { heartbeat: 200, stale: 600, forMs: 1_500, asleepMs: 0 },
    ...SHORT_BULK,
    retention: { expiredRows: 50_000, expiryMs: 60_000, planRows: 20_000 },
  },
  long: { killRounds: 50, cuts: 100, terms: 200, restarts: 5, away: LONG_AWAY, ...LONG_BULK, retention: MANY_EXPIRED },
  chaos: {
    killRounds: 200,
    cuts: 100,
    terms: 200,
    restarts: 20,
    away: FIVE_MINUTES_AWAY,
    ...LONG_BULK,
    retention: MANY_EXPIRED,
  },
}

/** Chosen by the variable SPILLWAY_EFFORT; default `short`. */
export const effort = EFFORTS[(process.env['SPILLWAY_EFFORT'] ?? 'short') as keyof typeof EFFORTS]
if (effort === undefined) throw new Error(`SPILLWAY_EFFORT is one of ${Object.keys(EFFORTS).join(', ')}`)
