import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

/**
 * The statements of a program of an earlier version, as they were when its schema was the newest: what still runs while
 * the schema is being migrated.
 */
interface OldProgram {
  readonly version: number
  readonly register: string
  readonly beat: string
  readonly look: string
  /** With `{slot}` in place of the number of a slot. */
  readonly claim: string
  readonly complete: string
  readonly dead: string
}

const TEXT = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig
/** What every version repeats: conflicts with others, and a lock it did not get. */
const REPEATED = new Set(['40001', '40P01', '55P03'])

/** A worker of that version: it claims and settles until it is stopped. Every third job dies. */
export class OldWorker {
  readonly trouble: unknown[] = []
  readonly settled: string[] = []
  private readonly program: OldProgram
  private readonly client: pg.Client
  private stopping = false
  private done: Promise<void> | undefined

  constructor(url: string, version: number) {
    const file = join(import.meta.dirname, `program-${String(version).padStart(4, '0')}.json`)
    this.program = JSON.parse(readFileSync(file, 'utf8')) as OldProgram
    this.client = new pg.Client({ connectionString: url, types: TEXT })
  }

  async start(): Promise<void> {
    await this.client.connect()
    const [row] = await this.run(this.program.register, [
      ...['old', 'elsewhere', 'boot', 'namespace', 1, '0', ['q'], ['act@1'], 100, 'old'],
    ])
    this.done = this.work(BigInt(row![0]!) << 36n).catch((error: unknown) => void this.trouble.push(error))
  }

  async stop(): Promise<void> {
    this.stopping = true
    await this.done
    await this.client.end()
  }

  private async work(base: bigint): Promise<void> {
    let claims = 0n
    while (!this.stopping) {
      for (const [, slot, priority, position] of await this.run(this.program.look, [['q']])) {
        const leaseId = String(base + ++claims)
        const floor = String(BigInt(position!) - 1n)
        const rows = await this.run(inSlot(this.program.claim, slot), [
          'q',
          priority,
          floor,
          10,
          ['act'],
          leaseId,
          1,
          ['act@1'],
        ])
        for (const row of rows) await this.settle(row[0]!, leaseId, Number(row[19]))
      }
      await this.run(this.program.beat, [String(base >> 36n)])
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  private async settle(id: string, leaseId: string, slot: number): Promise<void> {
    const ids = `{${id}}`
    const leases = `{${leaseId}}`
    const rows =
      Number(id) % 3 === 0
        ? await this.run(inSlot(this.program.dead, slot), [
            ...[ids, leases, 'attempts_exhausted', '{1}', '{"type":"error"}', 'cause', 'Error', 'no', 'no', false],
          ])
        : await this.run(inSlot(this.program.complete, slot), [ids, leases, 'null'])
    if (rows.length === 1) this.settled.push(id)
    else this.trouble.push(new Error(`job ${id} was not settled`))
  }

  private async run(text: string, values: unknown[]): Promise<string[][]> {
    for (;;) {
      try {
        return (await this.client.query<string[]>({ text, values, rowMode: 'array' })).rows
      } catch (error) {
        if (!REPEATED.has((error as { code?: string }).code ?? '')) throw error
      }
    }
  }
}

function inSlot(text: string, slot: string | number | undefined): string {
  return text.replaceAll('{slot}', String(slot))
}
