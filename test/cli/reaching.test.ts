import { expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { commandLine } from './spillway.js'

describeStore('a database that is not reached', ({ url }) => {
  const changed = (change: (it: URL) => void): string => {
    const it = new URL(url)
    change(it)
    return it.href
  }
  const wrong = {
    password: changed((it) => {
      it.password = 'hunter2hunter2'
    }),
    role: changed((it) => {
      it.username = 'nobody'
      it.password = 'hunter2hunter2'
    }),
    database: changed((it) => {
      it.pathname = '/nowhere'
    }),
    port: changed((it) => {
      it.port = '1'
      it.password = 'hunter2hunter2'
    }),
  }

  it.each(Object.entries(wrong))(
    'because of its %s is 5, and says to look at the url, not into it',
    async (_, at) => {
      for (const words of [['jobs', 'counts'], ['doctor'], ['serve', '--port', '0']]) {
        const { code, stdout, stderr } = await commandLine(at)(...words, '--json')

        expect({ code, stderr }, words.join(' ')).toMatchObject({
          code: 5,
          stderr: expect.stringMatching(/^spillway: cannot reach PostgreSQL: .+ the url is right\n$/),
        })
        expect(JSON.parse(stdout), words.join(' ')).toMatchObject({ error: { code: 'store_unavailable' } })
        expect(`${stdout}${stderr}`).not.toContain('hunter2')
      }
    },
    60_000,
  )

  it.each(['hunter2hunter2', 'localhost:5432/hunter2', 'postgres://ann:hunter2@host:port/x'])(
    'because its url is none (%s) is a fault of the command',
    async (at) => {
      const { code, stdout, stderr } = await commandLine(at)('jobs', 'counts', '--json')

      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('postgres://user:password@') })
      expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'invalid_option' } })
      expect(`${stdout}${stderr}`).not.toContain('hunter2')
    },
  )

  it('is waited for by a migration, which says so', async () => {
    const migrating = commandLine(wrong.port).start('migrate')

    await migrating.note(/waiting: for PostgreSQL to answer/)

    migrating.kill('SIGKILL')
    await migrating.done
  })
})

describeStore('a server that is asked in a wrong way', ({ url }) => {
  const spillway = commandLine(url)

  it.each([
    ['a token with a line end in it', ['--api', 'http://127.0.0.1:1', '--token', 'spw_1_hunter2\nhunter2']],
    ['a token of other letters', ['--api', 'http://127.0.0.1:1', '--token', 'hünter2hunter2']],
    ['a url with a password', ['--api', 'http://ann:hunter2hunter2@127.0.0.1:1']],
  ])('is not asked at all with %s, which is not shown', async (_, place) => {
    const { code, stdout, stderr } = await spillway(...place, 'jobs', 'counts', '--json')

    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^spillway: cannot use [^\n]+\n$/),
    })
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'invalid_option' } })
    expect(`${stdout}${stderr}`).not.toContain('hunter2')
  })

  it.each([
    ['queues', 'get', '..'],
    ['queues', 'pause', '.'],
    ['callbacks', 'complete', '..'],
  ])('is not asked for what no address can hold: %s %s %s', async (...words) => {
    const { code, stderr } = await spillway('--api', 'http://127.0.0.1:1', ...words)

    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('no address') })
  })

  it('gives a script in a document, where somebody asks for SQL and JSON', async () => {
    const pending = await spillway.json('migrate', '--sql')
    const whole = await commandLine(undefined).json('migrate', '--sql')

    expect(pending.document).toEqual({ sql: expect.stringContaining('up to date') })
    expect(whole.document).toEqual({ sql: expect.stringMatching(/^begin;/) })
  })
})
