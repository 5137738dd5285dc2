import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import ts from 'typescript'
import { beforeAll, describe, expect, it } from 'vitest'
import { createProgram } from '../src/cli/program.js'
import { renderRefusals, renderRoutes } from '../src/http/reference.js'
import { ERRORS } from '../src/job/errors.js'
import { renderLifecycle } from '../src/job/lifecycle.js'
import { METRICS } from '../src/metrics/definitions.js'
import { renderNotices } from './support/notices.js'

const root = resolve(import.meta.dirname, '..')
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
].sort()

const text = (page: string) => readFileSync(join(root, page), 'utf8')

describe('links', () => {
  it.each(pages)('of %s lead somewhere', (page) => {
    const broken = linksOf(page).filter(({ file, heading }) => {
      if (!existsSync(join(root, file))) return true
      return heading !== undefined && !headingsOf(file).includes(heading)
    })

    expect(broken.map((link) => link.target)).toEqual([])
  })

  it('reach every page of docs/ from its index', () => {
    const reached = new Set(['docs/README.md'])
    for (const page of reached) {
      for (const { file } of linksOf(page)) if (file.endsWith('.md')) reached.add(file)
    }

    expect(pages.filter((page) => page.startsWith('docs/') && !reached.has(page))).toEqual([])
  })
})

describe('commands', () => {
  const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> }

  it.each(pages)('of %s are scripts of the package', (page) => {
    const named = [...text(page).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, script]) => script!)

    expect(named.filter((script) => !(script in scripts))).toEqual([])
  })

  it.each(pages)('of %s are commands of the program', (page) => {
    const lines = [...text(page).matchAll(/\bnpx spillway ([^\n`#]+)/g)].map(([, line]) => line!.trim())

    expect(lines.filter((line) => !isUnderstood(line))).toEqual([])
  })
})

/** `npm test -- test/docs.test.ts -u` writes them anew. */
describe('generated tables', () => {
  it.each<[page: string, tables: Record<string, string>]>([
    ['docs/explanation/lifecycle.md', { transitions: renderLifecycle() }],
    ['docs/reference/events.md', { notices: renderNotices() }],
    ['docs/reference/errors.md', { errors: renderErrors() }],
    ['docs/how-to/monitor.md', { metrics: renderMetrics() }],
    ['docs/reference/http.md', { routes: renderRoutes(), refusals: renderRefusals() }],
  ])('of %s say what the code says', async (page, tables) => {
    let generated = text(page)
    for (const [name, table] of Object.entries(tables)) {
      const place = new RegExp(`(<!-- ${name}: generated [^\\n]*-->\\n).*?(<!-- end -->)`, 's')
      expect(generated).toMatch(place)
      generated = generated.replace(place, (_, begin, end) => `${begin}\n${table}\n${end}`)
    }

    await expect(generated).toMatchFileSnapshot(join(root, page))
  })
})

/**
 * A fence ```ts is a file of its own. ```ts file=jobs.ts gives it a name, so that later snippets of the same page can
 * import it as './jobs.js'. ```ts no-check is shown, not checked.
 */
describe('snippets', () => {
  const snippets = pages.flatMap(snippetsOf)
  const mistakes = new Map<string, string[]>()

  beforeAll(() => {
    const program = programOf(snippets)
    for (const snippet of snippets) mistakes.set(snippet.file, mistakesOf(program, snippet))
  }, 60_000)

  it.each(snippets.map(({ page, line, file }) => [`${page}:${line}`, file]))('%s compiles', (_, file) => {
    expect(mistakes.get(file)).toEqual([])
  })
})

/** Whether each word before the first option is a command or an argument of one, and each option is known. */
function isUnderstood(line: string): boolean {
  const words = line.split(/\s+/)
  let command: Command = createProgram()
  while (words.length > 0) {
    const next: Command | undefined = command.commands.find((it) => it.name() === words[0])
    if (next === undefined) break
    command = next
    words.shift()
  }
  const flags = words.filter((word) => word.startsWith('--'))
  const isRunnable = command.commands.length === 0
  const hasArguments = words.filter((word) => !word.startsWith('-')).length >= requiredArguments(command)
  return isRunnable && hasArguments && flags.every((flag) => command.options.some((it) => it.long === flag))
}

function requiredArguments(command: Command): number {
  return command.registeredArguments.filter((it) => it.required).length
}

function renderMetrics(): string {
  const rows = Object.entries(METRICS).map(
    ([name, { type, of, labels, help }]) => `| \`${name}\` | ${type} | ${of} | ${labels.join(', ')} | ${help} |`,
  )
  return ['| Metric | Type | Of | Labels | |', '|---|---|---|---|---|', ...rows, ''].join('\n')
}

function renderErrors(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, exit }]) => `| \`${code}\` | ${status} | ${exit} |`)
  return ['| Code | HTTP status | Exit code |', '|---|---|---|', ...rows, ''].join('\n')
}

interface Link {
  target: string
  /** From the root of the repository. */
  file: string
  heading: string | undefined
}

function linksOf(page: string): Link[] {
  const prose = text(page)
    .replace(/^```.*?^```/gms, '')
    .replace(/`[^`\n]*`/g, '')
  const pictures = prose.matchAll(/\b(?:src|srcset)="([^"]+)"/g)
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g), ...pictures]
    .map(([, target]) => target!)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path, heading] = target.split('#')
      return { target, file: path ? join(dirname(page), path) : page, heading }
    })
}

/** The anchors a page has, made from its headings as the usual viewers make them. */
function headingsOf(page: string): string[] {
  return [...text(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

interface Snippet {
  page: string
  /** Where its first line stands in the page. */
  line: number
  /** The path it is compiled under; nothing is written there. */
  file: string
  code: string
}

function snippetsOf(page: string): Snippet[] {
  const folder = join(root, '.snippets', page.replaceAll(/[^\w-]/g, '_'))
  return [...text(page).matchAll(/^```ts\b([^\n]*)\n(.*?)^```/gms)]
    .filter(([, info]) => !info!.includes('no-check'))
    .map((match) => {
      const line = text(page).slice(0, match.index).split('\n').length + 1
      const name = /\bfile=([\w./-]+)/.exec(match[1]!)?.[1] ?? `line-${line}.ts`
      return { page, line, file: join(folder, name), code: match[2]! }
    })
}

function programOf(snippets: Snippet[]): ts.Program {
  const config = ts.getParsedCommandLineOfConfigFile(join(root, 'tsconfig.json'), undefined, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
      throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'))
    },
  })!
  const code = new Map(snippets.map((snippet) => [snippet.file, snippet.code]))
  const isFolder = (path: string) => [...code.keys()].some((file) => file.startsWith(`${path}/`))

  const host = ts.createCompilerHost(config.options)
  const real = { ...host }
  host.fileExists = (path) => code.has(path) || real.fileExists(path)
  host.readFile = (path) => code.get(path) ?? real.readFile(path)
  host.directoryExists = (path) => isFolder(path) || ts.sys.directoryExists(path)
  host.getSourceFile = (path, options) => {
    const snippet = code.get(path)
    // A snippet without an import is a module all the same: its names are its own, and it may await.
    return snippet === undefined
      ? real.getSourceFile(path, options)
      : ts.createSourceFile(path, `${snippet}\nexport {}`, options)
  }
  return ts.createProgram({ rootNames: [...code.keys()], options: config.options, host })
}

function mistakesOf(program: ts.Program, snippet: Snippet): string[] {
  const source = program.getSourceFile(snippet.file)!
  return ts.getPreEmitDiagnostics(program, source).map((diagnostic) => {
    const { line } = ts.getLineAndCharacterOfPosition(source, diagnostic.start ?? 0)
    return `${snippet.page}:${snippet.line + line} ${ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n')}`
  })
}
