import { describe, expect, it } from 'vitest'
import { signWebhook, verifyWebhook } from './webhook-signature.js'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const body = '{"test": 2432232314}'
const NOW = 1_614_265_330_000

const headers = (signature: string, timestamp = '1614265330') => ({
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': timestamp,
  'webhook-signature': signature,
})

describe('the signature of a webhook', () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body }

  it('is that of Standard Webhooks', () => {
    expect(signWebhook(message, [SECRET])).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  it('holds for who has the secret, also among those of a rotation', () => {
    const old = 'whsec_b2xkIHNlY3JldCBvbGQgc2VjcmV0'
    const both = signWebhook(message, [SECRET, old])

    expect(verifyWebhook(body, headers(both), SECRET, NOW)).toBe(message.id)
    expect(verifyWebhook(body, headers(both), old, NOW)).toBe(message.id)
    expect(verifyWebhook(body, headers(signWebhook(message, [old])), [SECRET, old], NOW)).toBe(message.id)
    expect(verifyWebhook(body, new Headers(headers(both)), SECRET, NOW)).toBe(message.id)
  })

  const good = signWebhook(message, [SECRET])
  it.each<[string, string, Record<string, string>, string, number]>([
    ['another body', `${body} `, headers(good), SECRET, NOW],
    ['another secret', body, headers(good), 'whsec_b2xkIHNlY3JldCBvbGQgc2VjcmV0', NOW],
    ['another id', body, { ...headers(good), 'webhook-id': 'msg_other' }, SECRET, NOW],
    ['another time', body, headers(good, '1614265331'), SECRET, NOW],
    ['a request of 6 minutes ago', body, headers(good), SECRET, NOW + 360_000],
    ['a request of the future', body, headers(good), SECRET, NOW - 360_000],
    ['no signature', body, headers(''), SECRET, NOW],
    ['a shorter signature', body, headers('v1,g0hM'), SECRET, NOW],
    ['another version of signatures', body, headers(good.replace('v1,', 'v2,')), SECRET, NOW],
    ['a time that is none', body, headers(good, 'now'), SECRET, NOW],
    ['no headers', body, {}, SECRET, NOW],
  ])('does not hold for %s', (_, text, given, secret, now) => {
    expect(verifyWebhook(text, given, secret, now)).toBeUndefined()
  })
})
