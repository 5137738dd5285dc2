#!/usr/bin/env node
import { CommanderError } from 'commander'
import { failureOf } from './exit.js'
import { createProgram } from './program.js'
import { json } from './shown.js'

// `spillway jobs list | head` is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

const argv = process.argv.slice(2)
try {
  await createProgram().parseAsync(argv, { from: 'user' })
} catch (error) {
  report(error)
}

function report(error: unknown): void {
  // Help and version that were asked for are thrown as well.
  if (error instanceof CommanderError && error.exitCode === 0) return
  const { exit, line, document } = failureOf(error)
  const wasHelp = error instanceof CommanderError && error.code === 'commander.help'
  if (argv.includes('--json')) process.stdout.write(`${json(document)}\n`)
  if (!wasHelp) process.stderr.write(`${line}\n`)
  process.exitCode = exit
}
