import { defineJob, Spillway } from 'spillway'
import { signal, until } from 'spillway/testing'
import { expect, it, onTestFinished } from 'vitest'
import { describeStore } from '../support/store.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const ago = (ms: number) => new Date(Date.now() - ms)

describeStore('what is set while a worker runs', ({ store, given, url }) => {
  const note = defineJob<{ n: number }>({ kind: 'note', queue: 'live' })

  /** One that hears notices, as most do; the operator is another process with a connection of its own. */
  const running = async () => {
    const entered = signal<number>('a handler')
    const spillway = new Spillway({ url })
    const operator = new Spillway({ url })
    const worker = spillway.worker({
      queues: { live: {} },
      jobs: [note.handle(async ({ n }) => entered.fire(n))],
    })
    onTestFinished(async () => {
      await worker.stop()
      await spillway.close()
      await operator.close()
    })
    await worker.start()
    await until(async () =>
      (await store.duties()).every(({ duty, lastSuccessAt }) => !AT_ONCE.has(duty) || lastSuccessAt),
    )
    return { operator, entered }
  }
  const stateOf = async (id: string) => (await store.getJob(id))?.state
  const left = async (ids: readonly string[]) => Promise.all(ids.map(stateOf))

  it.each([
    ['completed', { finalizedAt: ago(2 * HOUR) }, { completed: '1h' }],
    ['failed', { finalizedAt: ago(2 * HOUR) }, { failed: '1h' }],
    ['cancelled', { finalizedAt: ago(2 * HOUR) }, { cancelled: '1h' }],
    ['archived', { dlqAt: ago(2 * HOUR), retainFrom: ago(2 * HOUR) }, { dlq: '1h' }],
    ['discarded', { discardedAt: ago(2 * HOUR) }, { bin: '1h' }],
    ['quarantined', { heldAt: ago(2 * HOUR) }, { held: '1h' }],
  ] as const)('a shorter retention of %s jobs deletes them within seconds', async (state, times, retention) => {
    const mine = await given.job({ state, queue: 'live', ...times })
    const other = await given.job({ state, queue: 'other', ...times })
    const { operator } = await running()
    const before = await left([mine.id, other.id])

    await operator.queues.set('live', { retention })
    await until(async () => (await stateOf(mine.id)) === undefined, { within: '5s', what: 'its deletion' })

    expect(before).toEqual([state, state])
    expect(await stateOf(other.id)).toBe(state)
  })

  it('a paused duty stands still while the others go on, and goes on when it is resumed', async () => {
    const { operator, entered } = await running()
    await operator.duties.pause('promote', { reason: 'a test' })
    // Heard in order: once this has had its effect, the pause has been heard.
    const dead = await given.job({ state: 'archived', queue: 'live', dlqAt: ago(DAY), retainFrom: ago(DAY) })
    await operator.queues.set('live', { dlqRetention: '1h' })
    await until(async () => (await stateOf(dead.id)) === undefined, { within: '5s', what: 'another duty' })

    const { id } = await operator.enqueue(note, { n: 1 }, { runAt: new Date(Date.now() + 200) })
    // The leader's look wakes the duty again and again; this one comes by it too, and later.
    const late = await given.job({ queue: 'nobody', deadline: new Date(Date.now() + 1_000) })
    await until(async () => (await stateOf(late.id)) === 'archived', { within: '15s', what: 'a deadline' })
    const whilePaused = [await stateOf(id), entered.count]
    await operator.duties.resume('promote')
    const ran = await entered.next({ within: '5s' })

    expect(whilePaused).toEqual(['scheduled', 0])
    expect(ran).toBe(1)
  })

  it('rings turn by the new limits', async () => {
    const { operator } = await running()
    await operator.rings.set('ready', { rotateRows: 1_000_000, rotateAfter: '24h' })
    onTestFinished(async () => void (await operator.rings.set('ready', { rotateRows: 20_000, rotateAfter: '10s' })))
    const head = async () => (await store.rings()).find(({ ring }) => ring === 'ready')?.head
    // The pass that was under way may have begun with the old limits.
    await aLook()
    await operator.rings.set('ready', { rotateRows: 900_000 })
    await aLook()
    const before = await head()
    await given.jobs(600, { queue: 'nobody' })
    await operator.rings.set('ready', { rotateRows: 1_000_000 })
    await aLook()
    const idle = await head()

    await operator.rings.set('ready', { rotateRows: 500 })
    await until(async () => (await head()) !== before, { within: '5s', what: 'a turn' })

    expect(idle).toBe(before)
  })

  /** A change wakes the duty; its success is told with the next renewal of the lead. */
  async function aLook(): Promise<void> {
    const before = await lookedAt()
    await until(async () => (await lookedAt()) > before, { within: '20s', what: 'a look at the rings' })
  }

  async function lookedAt(): Promise<number> {
    return (await store.duties()).find(({ duty }) => duty === 'rings')?.lastSuccessAt?.getTime() ?? 0
  }
})

/** Those whose first pass comes with the lead, and which would else do by chance what is expected of a change. */
const AT_ONCE: ReadonlySet<string> = new Set(['retain', 'retain_dlq', 'retain_held', 'evict', 'rings', 'promote'])
