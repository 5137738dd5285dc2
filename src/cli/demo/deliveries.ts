/** One webhook to deliver. */
export interface Delivery {
  readonly event: string
  readonly body: unknown
}

interface Example {
  readonly name: string
  readonly examples: readonly unknown[]
}

/**
 * Webhooks to deliver: the real ones of `@octokit/webhooks-examples` where that package is installed, as it is in this
 * repository, else small ones of the same events.
 */
export async function deliveries(count: number): Promise<Delivery[]> {
  const examples = await loadExamples()
  const all = examples.flatMap(({ name, examples: bodies }) => bodies.map((body) => ({ event: name, body })))
  return Array.from({ length: count }, (_, n) => all[n % all.length] as Delivery)
}

async function loadExamples(): Promise<readonly Example[]> {
  const name = '@octokit/webhooks-examples'
  try {
    const found = (await import(name, { with: { type: 'json' } })) as { default: readonly Example[] }
    return found.default
  } catch {
    // A development dependency: where Spillway is installed as a package it is not there.
    const events = ['push', 'issues', 'release', 'check_run', 'pull_request', 'repository', 'label', 'star', 'fork']
    return events.map((event) => ({
      name: event,
      examples: [1, 2, 3].map((n) => ({ action: 'created', repository: { id: n, full_name: `acme/repo-${n}` } })),
    }))
  }
}
