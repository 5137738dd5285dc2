import { expect, it } from 'vitest'
import { otherCommand, sameCommand } from './same-command.js'

it('repeats a line without what is named, and quotes what a shell would read', () => {
  const argv = [
    'dlq',
    'retry-bulk',
    '--queue',
    'billing',
    '--kind=charge',
    '--all',
    '--reason',
    "it's back",
    '--dry-run',
  ]
  const without = { '--queue': true, '--kind': true, '--all': false, '--dry-run': false }

  expect(sameCommand(argv, without, '--preview', '7')).toBe(
    "spillway dlq retry-bulk --reason 'it'\\''s back' --preview 7",
  )
})

it('names the same store in another command, without its password', () => {
  const url = 'postgres://me:hunter2@db/app'
  const place = 'spillway operations watch 7 --database-url "$DATABASE_URL" --schema jobs'

  expect(otherCommand(['--database-url', url, 'dlq', '--schema=jobs'], 'operations', 'watch', '7')).toBe(place)
  expect(otherCommand(['dlq', 'list', '--limit', '5'], 'dlq', 'undo', '7')).toBe('spillway dlq undo 7')
})
