import { expect, it } from 'vitest'
import { CONTRACT } from '../../src/http/index.js'
import { isMutation } from '../../src/http/route.js'
import { describeStore } from '../support/store.js'
import { apiOn, ROUTE_NAMES } from './api.js'
import { SAMPLES } from './samples.js'

/** Put in by producers, or by whoever has a callback's token: no operator acts. */
const NO_OPERATOR = new Set(['enqueue', 'completeCallback', 'failCallback', 'heartbeatCallback'])
const acts = ROUTE_NAMES.filter((name) => isMutation(CONTRACT[name]) && !NO_OPERATOR.has(name))

const EVERYTHING = `
  select string_agg(found.name || ':' || found.hash, ' ' order by found.name)
    from (${[
      ...[
        'ready_entries',
        'deferred_jobs',
        'leases',
        'waiting_jobs',
        'terminal_entries',
        'dlq_entries',
        'dlq_bin',
        'queues',
      ],
      ...[
        'held_entries',
        'operations',
        'idempotency_keys',
        'payload_versions',
        'api_tokens',
        'masked_paths',
        'webhooks',
        'dlq_triage',
        'cause_triage',
        'cold_archive',
        'duties',
        'ring_state',
        'event_head',
      ],
      ...['deliveries', 'audit_log'],
    ]
      .map(
        (name) =>
          `select '${name}' as name, coalesce(sum(hashtextextended(t::text, 0)), 0) as hash from spillway.${name} t`,
      )
      .join(' union all ')}) as found`

describeStore('the audit log', ({ store, given, db }) => {
  const api = apiOn(store)
  const everything = async () => db.run({ name: 'everything', text: EVERYTHING }, [])

  it.each(acts)('has a row for %s in its transaction: where it cannot be written, nothing happens', async (name) => {
    const { line, body } = await SAMPLES[name]({ given, api, db })
    const type = typeof body === 'string' ? { headers: { 'content-type': 'application/x-ndjson' } } : {}
    const before = await everything()
    await db.script(`
      create function spillway.no_audit() returns trigger language plpgsql as $$ begin raise 'no audit'; end $$;
      create trigger no_audit before insert on spillway.audit_log for each row execute function spillway.no_audit()`)

    try {
      // Of an import each line is refused for itself.
      const isImport = name === 'importDlq'
      const refused = await api(line, { body, ...(isImport ? {} : { key: 'k' }), ...type })

      if (isImport) expect(refused.body.imported).toBe(0)
      else expect(refused.status, refused.text).toBeGreaterThanOrEqual(400)
      expect(await everything()).toEqual(before)
    } finally {
      await db.script('drop trigger no_audit on spillway.audit_log; drop function spillway.no_audit()')
    }
  })

  it.each(acts)('says who did %s, why, and under which request', async (name) => {
    const { line, body } = await SAMPLES[name]({ given, api, db })
    const { secret } = await api.client.tokens.create({ name: 'ann', role: 'admin' })
    const own = apiOn(store, { access: { tokens: true } })
    const isDocument = body === undefined || typeof body === 'object'
    const why = line.startsWith('DELETE') || !isDocument ? '?reason=because' : ''
    const newest = (await api.client.audit.list({}, { limit: 1 })).items[0]?.id ?? '0'

    const answer = await own(`${line}${why}`, {
      body: isDocument && why === '' ? { ...(body as object), reason: 'because' } : body,
      token: secret,
      key: 'k',
      headers: { 'x-request-id': 'r-1', ...(isDocument ? {} : { 'content-type': 'application/x-ndjson' }) },
    })

    expect(answer.status, answer.text).toBeLessThan(300)
    const rows = (await api.client.audit.list()).items.filter(({ id }) => BigInt(id) > BigInt(newest))
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows) expect(row).toMatchObject({ actor: 'ann', reason: 'because', requestId: 'r-1' })
  })
})
