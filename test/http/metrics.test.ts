import { Spillway } from 'spillway'
import { expect, it, onTestFinished } from 'vitest'
import { METRICS } from '../../src/metrics/definitions.js'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

describeStore('the metrics', ({ store, given, clock, url }) => {
  const api = apiOn(store)
  const ages = async () =>
    Object.fromEntries(
      [...(await api('GET //metrics')).text.matchAll(/spillway_dlq_oldest_age_seconds\{queue="(\w+)"\} ([\d.]+)/g)].map(
        ([, queue, age]) => [queue, Number(age)],
      ),
    ) as Record<string, number>

  it('tell how long the oldest dead letter has been lying there, also in a queue where nothing happens', async () => {
    await given.jobs(2, { state: 'archived', queue: 'idle' })
    const before = (await ages())['idle'] as number
    await clock.advance('2h')
    await given.jobs(3, { state: 'archived', queue: 'idle' })

    const after = (await ages())['idle'] as number

    expect(after - before).toBeGreaterThanOrEqual(7_190)
    expect(after - before).toBeLessThan(7_300)
    await api('POST /dlq/bulk-purge', {
      body: { ids: (await store.listDlq({}, { limit: 10 })).items.map(({ id }) => id) },
    })
    expect(await ages()).toEqual({})
  })

  it('have the names, labels and meanings of those of a worker, also where these are not given', async () => {
    await given.jobs(2, { state: 'archived', queue: 'q' })
    await given.job({ queue: 'q' })
    await given.worker({ queues: ['q'], kinds: ['test@1'] })
    await api('POST /queues/q/pause')

    const { text } = await api('GET //metrics')

    const said = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].filter(([, name]) => !name?.includes('_http_'))
    expect(said.length).toBeGreaterThanOrEqual(5)
    for (const [, name, help] of said) {
      const known = METRICS[name as keyof typeof METRICS]
      expect(help, name).toBe(known.help)
      const [, inner = ''] = new RegExp(`^${name}\\{(.*)\\} `, 'm').exec(text) ?? []
      expect([...inner.matchAll(/(\w+)="/g)].map(([, label]) => label)).toEqual(known.labels)
    }
  })

  it.each(['their own', 'those of a worker'])(
    'of %s tell whoever reaches some queues of these alone',
    async (whose) => {
      const mine = 'mi"ne'
      for (const queue of [mine, 'theirs']) await given.jobs(2, { state: 'archived', queue })
      await given.worker({ queues: [mine, 'theirs'], kinds: ['test@1'] })
      const spillway = new Spillway({ url })
      onTestFinished(() => spillway.close())
      const metrics = whose === 'their own' ? {} : { metrics: async () => (await spillway.metrics()).text() }
      const guarded = apiOn(store, { access: { tokens: true }, ...metrics })
      const { secret: token } = await api.client.tokens.create({ name: 'ann', rights: ['read'], queues: [mine] })

      const { text } = await guarded('GET //metrics', { token })

      expect(text).toContain('spillway_dlq_depth{queue="mi\\"ne"} 2')
      expect(text).toContain('spillway_workers{queue="mi\\"ne"} 1')
      expect(text).not.toContain('theirs')
      expect(text).not.toContain('spillway_schema_version')
      expect(text).toContain('spillway_http_request_duration_seconds')
    },
  )
})
