import { expect, it } from 'vitest'
import { fingerprintOf } from './fingerprint.js'

it("is what md5(kind || E'\\n' || payload::text) gives in the store", () => {
  expect(fingerprintOf('mail', '{"to":"é"}')).toBe('08688250a6cfe5b139b33847e323f60b')
})

it('differs by kind and by any byte of the payload', () => {
  const prints = [fingerprintOf('a', '{}'), fingerprintOf('b', '{}'), fingerprintOf('a', '{ }')]

  expect(new Set(prints).size).toBe(3)
})
