// A worker as a module: `npx spillway work examples/send-receipts.mjs`.
// Something to do: `npx spillway enqueue send_receipt --queue email --payload '{"to":"ada@example.com"}'`.
import { defineJob, skip, snooze } from 'spillway'

const sendReceipt = defineJob({ kind: 'send_receipt', queue: 'email', maxAttempts: 5, timeout: '30s' })

const isNight = () => new Date().getUTCHours() < 6

export default {
  queues: { email: { concurrency: 20 } },
  jobs: [
    sendReceipt.handle(async ({ to }, { job, signal, progress }) => {
      // Will never succeed, so no attempt is wasted on it: the dead-letter queue has it at once, with the reason.
      if (!String(to).includes('@')) return skip('no_address', { to })
      // Not a failure, so nothing is charged.
      if (isNight() && job.tags.includes('polite')) return snooze('1h')

      await progress({ step: 'sending' })
      const answer = await fetch('https://mail.example.com/send', { method: 'POST', body: String(to), signal })
      if (!answer.ok) throw new Error(`mail server said ${answer.status}`)
      return { sent: true }
    }),
  ],
  onDeath: [({ job, reason, error }) => console.error(`job ${job.id} was given up: ${reason}: ${error}`)],
}
