import pg from 'pg'
import { until } from 'spillway/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testDatabase } from './support/database.js'
import { type CutAt, type DatabaseProxy, startProxy } from './support/proxy.js'
import { onServer } from './support/server.js'

describe('the proxy that cuts connections', () => {
  const { url } = testDatabase()
  let proxy: DatabaseProxy

  beforeAll(async () => {
    await onServer(url, (client) => client.query('create table notes (text text)'))
    proxy = await startProxy(url)
  })
  beforeEach(() => onServer(url, (client) => client.query('truncate notes')))
  afterAll(() => proxy.close())

  const insert = (text: string) => ({ text: 'insert into notes values ($1)', values: [text] })
  const notes = () =>
    onServer(url, async (client) =>
      (await client.query<{ text: string }>('select text from notes order by text')).rows.map(({ text }) => text),
    )
  const isInsert = (text: string) => text.startsWith('insert')

  it.each<[CutAt, string[]]>([
    ['before', []],
    ['mid', []],
    ['answered', ['kept']],
  ])('cut %s, a statement leaves %j and its caller without an answer', async (at, left) => {
    const cut = proxy.cut({ at, statement: isInsert })

    const asked = onServer(proxy.url, (client) => client.query(insert('kept')))

    await expect(asked).rejects.toThrow(/terminated|ECONNRESET/)
    expect(await cut.next()).toContain('insert into notes')
    await until(async () => JSON.stringify(await notes()) === JSON.stringify(left))
  })

  it('withholds the answer to a COMMIT that was done', async () => {
    const cut = proxy.cut({ at: 'answered', statement: (text) => text === 'commit' })

    const asked = onServer(proxy.url, async (client) => {
      await client.query('begin')
      await client.query(insert('committed'))
      await client.query('commit')
    })

    await expect(asked).rejects.toThrow()
    expect(cut.count).toBe(1)
    expect(await notes()).toEqual(['committed'])
  })

  it('knows a prepared statement again when only its name is sent', async () => {
    const named = (text: string) => ({ ...insert(text), name: 'note' })
    const cut = proxy.cut({ at: 'answered', statement: isInsert, skip: 2 })

    const asked = onServer(proxy.url, async (client) => {
      for (const text of ['1', '2', '3', '4']) await client.query(named(text))
    })

    await expect(asked).rejects.toThrow()
    expect(cut.count).toBe(1)
    expect(await notes()).toEqual(['1', '2', '3'])
  })

  it('lets the answers before a withheld one through, in a pipeline', async () => {
    proxy.cut({ at: 'answered', statement: isInsert, skip: 1 })
    const client = new pg.Client({ connectionString: proxy.url, ...({ pipeline: true } as object) })
    client.on('error', () => {})
    await client.connect()

    const asked = await Promise.allSettled([client.query(insert('1')), client.query(insert('2'))])

    expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(await notes()).toEqual(['1', '2'])
  })

  it('uses a rule up, then leaves everything alone', async () => {
    proxy.cut({ at: 'before', statement: isInsert, times: 1 })
    await expect(onServer(proxy.url, (client) => client.query(insert('1')))).rejects.toThrow()

    await onServer(proxy.url, (client) => client.query(insert('2')))

    expect(await notes()).toEqual(['2'])
  })

  it('is away until it comes back', async () => {
    const open = new pg.Client({ connectionString: proxy.url })
    const ended = new Promise<void>((resolve) => open.on('end', resolve).on('error', () => {}))
    await open.connect()

    proxy.goAway()
    await ended
    const refused = onServer(proxy.url, (client) => client.query('select 1'))

    await expect(refused).rejects.toThrow()
    proxy.comeBack()
    await expect(onServer(proxy.url, (client) => client.query('select 1'))).resolves.toBeDefined()
    expect(proxy.connections).toBe(0)
  })
})
