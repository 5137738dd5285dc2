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
