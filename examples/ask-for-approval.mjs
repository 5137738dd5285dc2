// A job that waits for a person: `npx spillway work examples/ask-for-approval.mjs`.
// Something to do: `npx spillway enqueue refund --queue billing --payload '{"order":"4711","cents":4200}'`.
// It prints the command that answers it; nothing runs and no slot is held until then.
import { defineJob, skip } from 'spillway'

const refund = defineJob({ kind: 'refund', queue: 'billing', maxAttempts: 3 })

// Stands for a message to somebody. It is sent again when the handler runs again, so it must be safe to repeat.
const ask = (order, token) =>
  console.log(`refund order ${order}? npx spillway callbacks complete ${token} --value '{"ok":true}'`)

export default {
  queues: { billing: { concurrency: 5 } },
  jobs: [
    refund.handle(async ({ order, cents }, ctx) => {
      const approval = await ctx.callback('approval', { timeout: '2d' })
      ask(order, approval.token)
      const { ok } = await approval.result()
      if (!ok) return skip('declined', { order })
      return { refunded: cents }
    }),
  ],
}
