import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'

interface Chunk {
  readonly file: string
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
  readonly dynamicImports?: readonly string[]
}

const BUDGET = 220 * 1024
const folder = new URL('../../dist/console/', import.meta.url)
const manifest = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8')) as Record<string, Chunk>

/** The files a chunk cannot do without, itself first. */
function withImports(name: string, seen = new Set<string>()): Set<string> {
  const chunk = manifest[name]
  if (chunk === undefined || seen.has(chunk.file)) return seen
  seen.add(chunk.file)
  for (const next of chunk.imports ?? []) withImports(next, seen)
  return seen
}

const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry) as string
const zipped = (file: string) => gzipSync(readFileSync(new URL(file, folder))).length

it('loads at most 220 kB of script, zipped, before its first screen', () => {
  const first = [...withImports(entry), ...withImports('src/routes/overview.tsx')]
  const sizes = new Map(first.map((file) => [file, zipped(file)]))
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)

  expect(total, JSON.stringify([...sizes])).toBeLessThanOrEqual(BUDGET)
})

it('loads charts and editors only when they are shown', () => {
  const first = [...withImports(entry), ...withImports('src/routes/overview.tsx')]
  const text = first.map((file) => readFileSync(new URL(file, folder), 'utf8')).join('\n')

  // A class name of each, which survives minification.
  expect(text).not.toContain('u-over')
  expect(text).not.toContain('cm-content')
})
