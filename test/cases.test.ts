import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** A fault that users of other queues met, by its id, and the tests that show that it cannot happen here. */
interface Case {
  readonly id: string
  /** `file: name`, the name as it stands in the file. */
  readonly tests?: readonly string[]
  /** The milestone whose tests will (also) cover it. */
  readonly later?: string
}

/** Those that stop a release: data loss, work done twice, security, a product that stands still. */
const STOPPING = `
  M-01 M-02 M-03 M-05 M-06 M-13 M-18 M-19  E-01 E-02 E-03 E-07  Y-02  P-01 P-02 P-03 P-06 P-07 P-09 P-11 P-15
  R-01 R-02 R-06 R-07 R-11 R-14 R-15 R-22 R-23  B-01 B-05 B-06 B-09 B-11 B-14 B-15  U-01 U-02 U-03 U-07
  T-01 T-02 T-03 T-05 T-06 T-09  L-01 L-02  S-01 S-03 S-05 S-06 S-07  D-01 D-02 D-03 D-05 D-06 D-07 D-10
  N-01 N-03 N-05  V-01 V-02 V-03
`
  .trim()
  .split(/\s+/)

const cases = JSON.parse(readFileSync('test/cases.json', 'utf8')) as readonly Case[]

describe('the cases that stop a release', () => {
  it.each(STOPPING)('%s is tested, or a milestone has it', (id) => {
    const found = cases.filter((it) => it.id === id)

    expect(found, `${id} stands once in test/cases.json`).toHaveLength(1)
    const [{ tests = [], later } = {}] = found as [Case]
    expect(tests.length > 0 || /^milestone \d+$/.test(later ?? ''), `${id} names tests or a milestone`).toBe(true)
  })

  it('are all there is in the list', () => {
    expect(cases.map(({ id }) => id).sort()).toEqual([...STOPPING].sort())
  })

  it.each(cases.flatMap(({ id, tests = [] }) => tests.map((test) => [id, test] as const)))(
    '%s: there is a test %s',
    (_, test) => {
      const [file, name] = test.split(/: (.*)/s) as [string, string]

      expect(existsSync(file), file).toBe(true)
      const source = readFileSync(file, 'utf8').replace(/\s+/g, ' ')
      const quoted = ["'", '"', '`'].some((quote) =>
        source.includes(`${quote}${name.replaceAll("'", quote === "'" ? "\\'" : "'")}${quote}`),
      )
      expect(quoted, `a test with that name in ${file}`).toBe(true)
    },
  )
})
