import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withStartLock } from '../../src/embedded/start-lock.js'

let dir: string
let lock: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'start-lock-'))
  lock = join(dir, 'start.lock')
})

afterEach(() => rmSync(dir, { recursive: true, force: true }))

describe('the start lock', () => {
  it('is taken over from a dead holder by one at a time', async () => {
    writeFileSync(lock, JSON.stringify({ pid: deadPid(), birth: null, token: 'dead' }))
    let inside = 0
    let most = 0

    await Promise.all(
      Array.from({ length: 20 }, () =>
        withStartLock(lock, 30_000, async () => {
          most = Math.max(most, ++inside)
          for (let i = 0; i < 5; i++) await turn()
          inside--
        }),
      ),
    )

    expect(most).toBe(1)
    expect(readdirSync(dir)).toEqual([])
  })

  it('is taken over from a holder that died while it was taking over', async () => {
    writeFileSync(lock, JSON.stringify({ pid: deadPid(), birth: null, token: 'dead' }))
    writeFileSync(`${lock}.dead`, JSON.stringify({ pid: deadPid(), birth: null, token: 'died-too' }))

    expect(await withStartLock(lock, 5000, async () => 'done')).toBe('done')

    expect(readdirSync(dir)).toEqual([])
  })

  it.runIf(process.platform === 'linux')('knows a dead holder whose process id is used again', async () => {
    writeFileSync(lock, JSON.stringify({ pid: process.pid, birth: 'another boot:1', token: 'dead' }))

    expect(await withStartLock(lock, 5000, async () => 'done')).toBe('done')
  })

  it('stays with a living holder, and says who that is', async () => {
    await withStartLock(lock, 5000, async () => {
      await expect(withStartLock(lock, 200, async () => 'done')).rejects.toMatchObject({
        code: 'embedded_unavailable',
        message: expect.stringContaining(`process ${process.pid}`),
      })
    })

    expect(await withStartLock(lock, 5000, async () => 'done')).toBe('done')
  })

  it('is given back when the work fails', async () => {
    await expect(withStartLock(lock, 5000, () => Promise.reject(new Error('no')))).rejects.toThrow('no')

    expect(readdirSync(dir)).toEqual([])
  })
})

function deadPid(): number {
  return spawnSync(process.execPath, ['--version']).pid
}
