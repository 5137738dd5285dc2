import { createRequire } from 'node:module'

/** `20`: about 20 bytes. `8k`: the demo's, 329 webhooks of GitHub, 0.9 to 27 kB, median 7.7 kB. */
export type PayloadSize = '20' | '8k'

interface Webhook {
  examples: unknown[]
}

let webhooks: unknown[] | undefined

/** The payload of the n-th job. The small one carries `n` back. */
export function payload(size: PayloadSize, n: number): unknown {
  if (size === '20') return { i: 1_000_000 + n, b: 12 }
  webhooks ??= loadWebhooks()
  return webhooks[n % webhooks.length]
}

/** The number a small payload was made for. */
export function numberOf(made: unknown): number {
  return (made as { i: number }).i - 1_000_000
}

function loadWebhooks(): unknown[] {
  const require = createRequire(import.meta.url)
  return (require('@octokit/webhooks-examples') as Webhook[]).flatMap((hook) => hook.examples)
}
