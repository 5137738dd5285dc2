#!/usr/bin/env node
import { CommanderError } from 'commander'
import { failureOf } from './exit.js'
import { createProgram } from './program.js'
import { json } from './shown.js'

process.stdout.once('error', unheard).on('error', () => undefined)
// Whoever does not listen to its notes any more still wants the work done.
process.stderr.on('error', () => undefined)

const argv = process.argv.slice(2)
try {
  await createProgram().parseAsync(argv, { from: 'user' })
} catch (error) {
  report(error)
}

/** `spillway jobs list | head` is no error. What runs until it is stopped is stopped, in order. */
function unheard({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE' && process.listenerCount('SIGTERM') > 0) process.emit('SIGTERM', 'SIGTERM')
  else if (code === 'EPIPE') process.exit(0)
  else {
    process.stderr.write(`spillway: cannot write what was found: ${message}\n`)
    process.exit(1)
  }
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
