import { Spillway } from '../../index.js'
import { parseWebhook, parsing } from './parse.js'

// A worker in a process of its own, which may die of a job. Its database comes by the environment, where `ps` does not
// show it.
const { SPILLWAY_DEMO_URL: url, SPILLWAY_DEMO_SCHEMA: schema = 'spillway', SPILLWAY_DEMO_FIXED: fixed } = process.env

const spillway = new Spillway({ url, schema })
const worker = spillway.worker({
  queues: { [parseWebhook.queue]: { concurrency: 5 } },
  jobs: [parsing(fixed === 'yes')],
  heartbeat: 500,
})
const stop = async () => {
  await worker.stop({ grace: '1s', abort: '1s' })
  await spillway.close()
  process.exit(0)
}
process.once('SIGTERM', () => void stop())
// Nobody is left to stop it.
process.once('disconnect', () => process.exit(1))
await worker.start()
