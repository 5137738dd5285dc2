import fc from 'fast-check'
import { expect, it } from 'vitest'
import { linesOf } from './lines.js'

it('gives back the lines of a stream, wherever it is cut, and breaks at nothing but a line feed', async () => {
  const line = fc.string({ unit: fc.constantFrom('a', '\u2028', '\u0085', '\r', 'é', '😀', ' ') })
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.integer({ min: 1, max: 7 }), async (lines, size) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''))
      async function* chunks() {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
      }

      const found: string[] = []
      for await (const text of linesOf(chunks())) found.push(text)

      expect(found).toEqual(lines)
    }),
  )
})
