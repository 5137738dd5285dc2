// A process that uses the embedded database: says what it got, and leaves when its input ends.
const [moduleUrl, dir] = process.argv.slice(2)
const { startEmbedded } = await import(moduleUrl)
const notices = []
try {
  const database = await startEmbedded({ dir, onNotice: (message) => notices.push(message) })
  process.stdout.write(`${JSON.stringify({ url: database.url, started: database.started, notices })}\n`)
  for await (const _ of process.stdin);
  await database.release()
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: error.message, code: error.code, notices })}\n`)
}
