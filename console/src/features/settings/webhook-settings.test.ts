import { describe, expect, it } from 'vitest'
import type { Webhook } from '../../api.js'
import { changedSettings, typedWebhook, webhookBody, webhookFlags } from './webhook-settings.js'

const WEBHOOK = {
  ...{ url: 'https://hooks.example.com/a', description: 'on call', types: ['died'], queues: ['a, b', 'c'] },
  ...{ kinds: null, reasons: null, digestMs: 300_000, digestEvents: 10 },
} as unknown as Webhook
const BEFORE = typedWebhook(WEBHOOK)

describe('an edit of a webhook', () => {
  it('sends nothing where nothing was changed, also where only space was', () => {
    expect(changedSettings(BEFORE, { ...BEFORE, types: '\n died \n' })).toEqual([])
  })

  it('sends what was changed and no more, on the wire and on the command line', () => {
    const now = { ...BEFORE, queues: 'a, b\nd', digest_events: '3' }
    const changed = changedSettings(BEFORE, now)

    expect(webhookBody(changed, now)).toEqual({ queues: ['a, b', 'd'], digest_events: 3 })
    expect(webhookFlags(changed, now)).toEqual(['--queue', 'a, b', '--queue', 'd', '--digest-events', '3'])
  })

  it('drops what was emptied', () => {
    const now = { ...BEFORE, types: '', queues: ' ', digest: '', description: '' }
    const changed = changedSettings(BEFORE, now)

    expect(webhookBody(changed, now)).toEqual({ types: null, queues: null, digest: null, description: null })
    expect(webhookFlags(changed, now).join(' ')).toBe('--all types --all queues --digest none --description none')
  })

  it('leaves it to the server to say what is wrong', () => {
    const now = { ...BEFORE, url: '', digest_events: 'many' }

    expect(webhookBody(changedSettings(BEFORE, now), now)).toEqual({ url: '', digest_events: 'many' })
  })
})
