import { type Bench, expectCount, type Scenario, withProducer } from '../bench.js'
import type { PayloadSize } from '../payloads.js'
import type { ProducerMethods } from '../producer-process.js'
import type { Remote } from '../remote.js'
import type { RowName, Sample } from '../rows.js'
import { SCHEMA } from '../scratch.js'

const BULK_CALLERS = 2

/** Callers that wait for each answer: a job counts once its enqueue has resolved, and so is durable. */
export const enqueues: readonly Scenario[] = [
  single('enqueue_single', 16, '20'),
  single('enqueue_single_256', 256, '20'),
  single('enqueue_single_8k', 16, '8k'),
  single('enqueue_single_256_8k', 256, '8k'),
  bulk('enqueue_bulk', 1000, '20'),
  bulk('enqueue_bulk_8k', 500, '8k'),
]

function single(name: RowName, callers: number, size: PayloadSize): Scenario {
  return scenario(name, async (producer, seconds) => {
    const { count, seconds: took } = await producer.single(callers, seconds, size)
    return { stored: count + callers, sample: { name, value: count / took, settings: { callers, seconds } } }
  })
}

function bulk(name: RowName, batch: number, size: PayloadSize): Scenario {
  return scenario(name, async (producer, seconds) => {
    const { count, seconds: took } = await producer.bulk(BULK_CALLERS, seconds, batch, size)
    return {
      stored: count + batch,
      sample: { name, value: count / took, settings: { callers: BULK_CALLERS, batch, seconds } },
    }
  })
}

type Measure = (producer: Remote<ProducerMethods>, seconds: number) => Promise<{ stored: number; sample: Sample }>

function scenario(name: RowName, measure: Measure): Scenario {
  return {
    rows: [name],
    async run(bench: Bench) {
      await bench.scratch.fresh()
      const { stored, sample } = await withProducer(bench, (producer) => measure(producer, bench.quick ? 1 : 4))
      const found = await bench.scratch.number(`select count(*) as n from ${SCHEMA}.ready_entries`)
      expectCount(`rows enqueued by ${name}`, found, stored)
      return [sample]
    },
  }
}
