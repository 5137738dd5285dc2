/** A preview as the statement writes it. */
interface Found {
  readonly looked_at: number
  readonly samples: readonly unknown[]
  readonly causes: readonly unknown[]
  readonly would_refuse: readonly unknown[]
}

const SAMPLES = 10

/** What was found in several places, as one: those of the first place come first. */
export function joinedPreviews(documents: readonly string[]): Found {
  const found = documents.map((document) => JSON.parse(document) as Found)
  return {
    looked_at: found.reduce((sum, { looked_at }) => sum + looked_at, 0),
    samples: found.flatMap(({ samples }) => samples).slice(0, SAMPLES),
    causes: found.flatMap(({ causes }) => causes),
    would_refuse: found.flatMap(({ would_refuse }) => would_refuse),
  }
}
