import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { monitoringFiles } from '../../scripts/monitoring-files.mjs'
import { METRICS } from '../../src/metrics/definitions.js'

const folder = join(import.meta.dirname, '../../docs/monitoring')
const files = monitoringFiles(METRICS)

/** `npm test -- test/metrics/monitoring.test.ts -u` or `npm run monitoring` writes them anew. */
describe('the files of docs/monitoring', () => {
  it.each(Object.keys(files))('%s says what the code says', async (name) => {
    await expect(files[name]).toMatchFileSnapshot(join(folder, name))
  })

  it.each(Object.entries(files))('%s names no metric that does not exist', (_, text) => {
    const named = [...text.matchAll(/\bspillway_[a-z_]+\b/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ''))

    expect(named.length).toBeGreaterThan(10)
    expect([...new Set(named)].filter((name) => !(name in METRICS))).toEqual([])
  })

  it.each(Object.entries(files))('%s asks for no label that a metric does not have', (_, text) => {
    const plain = text.replaceAll('\\"', '"')
    const asked = [...plain.matchAll(/\b(spillway_[a-z_]+)\{([^}]*)\}/g)].flatMap(([, name = '', filters = '']) =>
      [...filters.matchAll(/(\w+)=?[=~!]/g)].map(([, label = '']) => ({ name: name.replace(/_bucket$/, ''), label })),
    )

    const unknown = asked.filter(
      ({ name, label }) => !(METRICS[name as never] as { labels: string[] }).labels.includes(label),
    )
    expect(asked.length).toBeGreaterThan(0)
    expect(unknown).toEqual([])
  })

  it('are refused while they name a metric that is not there', () => {
    const { spillway_dlq_depth: _, ...without } = METRICS

    expect(() => monitoringFiles(without as never)).toThrow('there is no metric spillway_dlq_depth')
  })

  it('show every metric of the store in some panel or alert', () => {
    const all = Object.values(files).join('')
    const shown = Object.entries(METRICS)
      .filter(([, { of }]) => of === 'store')
      .map(([name]) => name)

    expect(shown.filter((name) => !all.includes(name))).toEqual([
      'spillway_operations_open',
      'spillway_horizon_age_transactions',
      'spillway_schema_version',
    ])
  })
})
