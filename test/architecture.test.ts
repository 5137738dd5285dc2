import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path/posix'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

interface Rule {
  /** What of src/ it may import besides itself, by the beginning of the path. */
  ours: string[]
  /** Which packages, `node:` standing for all of Node's own. A name in `types` may be imported as types only. */
  packages: string[]
  types?: string[]
}

const DOMAIN_AND_PORT = ['job/', 'store/store.ts']

/** Who may import whom inside src/. A file obeys the first rule its path starts with. */
const MAY_IMPORT: Record<string, Rule> = {
  'job/': { ours: [], packages: ['node:crypto'], types: ['@standard-schema/spec'] },
  'store/store.ts': { ours: ['store/port/'], packages: [] },
  'store/port/': { ours: ['job/'], packages: [] },
  'store/postgres/': { ours: DOMAIN_AND_PORT, packages: ['node:', 'pg', 'pg-copy-streams'] },
  'client/': { ours: DOMAIN_AND_PORT, packages: ['node:'] },
  'worker/': { ours: DOMAIN_AND_PORT, packages: ['node:'] },
  'maintenance/': { ours: DOMAIN_AND_PORT, packages: ['node:'] },
  'metrics/': {
    ours: [...DOMAIN_AND_PORT, 'worker/'],
    packages: ['node:', 'prom-client'],
    types: ['@opentelemetry/api'],
  },
  'embedded/': { ours: [], packages: ['node:', 'pg'] },
  'http/': { ours: ['job/', 'client/'], packages: ['node:', 'zod', 'jose'] },
  'testing/': { ours: ['job/', 'client/', 'worker/', 'maintenance/', 'store/'], packages: ['node:'] },
  'cli/': { ours: [''], packages: ['node:', 'commander', 'cli-table3', 'picocolors'] },
  'index.ts': {
    ours: ['job/', 'store/', 'client/', 'worker/', 'maintenance/', 'metrics/', 'embedded/'],
    packages: ['node:'],
  },
}

/** Where a statement may stand: in a module of queries, or in a migration, which is no TypeScript. */
const MAY_HOLD_SQL = /^store\/[^/]+\/queries\//

/** Whoever holds connections may ask the server about itself: no table of ours, only PostgreSQL's own views. */
const MAY_ASK_THE_SERVER = /^(embedded|store\/[^/]+)\//
const ABOUT_THE_SERVER = /^\s*(create database\s|select\s(?!.*\b(from|join)\s+(?!pg_|where\b)))/is

const MAY_PRINT = 'cli/'

/** Names that do not say what is inside. */
const NAMES_THAT_SAY_NOTHING = /^(utils?|helpers?|common|misc|types|interfaces|lib)$/

const files = typescriptIn('src')
const sources = files.filter((path) => !path.endsWith('.test.ts'))

describe('imports', () => {
  it.each(files)('%s imports only what it may', (path) => {
    const { own, rule } = ruleOf(path)
    // A test beside its file obeys the folder too, but has any package and our own helpers to test with.
    const isTest = path.endsWith('.test.ts')
    const mayUse = (it: Import) => isTest || packageAllowed(rule, it)
    const folders = [own, ...rule.ours, ...(isTest ? ['testing/'] : [])]

    const forbidden = read(path).imports.filter(({ file, ...it }) =>
      file === undefined ? !mayUse(it) : !folders.some((prefix) => file.startsWith(prefix)),
    )

    expect(forbidden.map((it) => it.specifier)).toEqual([])
  })

  it('index.ts loads the embedded database only when it is needed', () => {
    const atOnce = read('index.ts').imports.filter((it) => it.file?.startsWith('embedded/') && it.when === 'load')

    expect(atOnce.map((it) => it.specifier)).toEqual([])
  })

  it('never run in a circle', () => {
    expect(circles(sources)).toEqual([])
  })
})

describe('the console', () => {
  const parts = typescriptIn('console/src')
  /** What the console knows of the library: the shapes of the API, and those of the domain. */
  const MAY_KNOW = /^src\/(http\/(contract|route)\.ts|http\/contract\/|job\/)/
  /** Parts that any console could be made of: they know nothing of jobs. */
  const OWN = /^console\/src\/(components\/|(words|server|exact-json|place)\.ts$)/

  it.each(parts)('%s imports types of the contract and the domain only', (path) => {
    const outside = read(path, 'console/src').imports.filter(({ file }) => file && !file.startsWith('console/src/'))

    // A test compares with the rules themselves; what is built has their types alone.
    const isTest = path.endsWith('.test.ts')
    const forbidden = outside.filter(({ file, when }) => (when !== 'never' && !isTest) || !MAY_KNOW.test(file ?? ''))
    expect(forbidden.map((it) => it.specifier)).toEqual([])
  })

  it.each(parts.filter((path) => path.startsWith('components/')))('%s knows nothing of jobs', (path) => {
    const inside = read(path, 'console/src').imports.flatMap(({ file }) => file ?? [])

    expect(inside.filter((file) => !OWN.test(file))).toEqual([])
  })
})

describe('one place for each thing', () => {
  it.each(sources.filter((path) => !MAY_HOLD_SQL.test(path)))('%s holds no SQL', (path) => {
    const { statements } = read(path)

    const wrong = statements.filter((it) => !(MAY_ASK_THE_SERVER.test(path) && ABOUT_THE_SERVER.test(it.text)))
    expect(wrong.map((it) => it.quoted)).toEqual([])
  })

  it.each(sources.filter((path) => MAY_HOLD_SQL.test(path) && !path.endsWith('/history.ts')))(
    '%s leaves to history.ts what a history is made of',
    (path) => {
      const text = readFileSync(join('src', path), 'utf8')

      expect(text.match(/append_history|history\[|(json|append)\((\w+\.)?(history|last_entry)/g)).toBeNull()
    },
  )

  it.each(sources)('%s keeps no state of its own', (path) => {
    expect(read(path).state).toEqual([])
  })

  it.each(sources.filter((path) => !path.startsWith(MAY_PRINT)))('%s prints nothing', (path) => {
    expect(read(path).prints).toEqual([])
  })
})

it.each(['src', 'test', 'bench', 'examples', 'console/src'])('every name in %s/ says what is inside', (folder) => {
  const nameless = typescriptIn(folder).filter((path) =>
    path.split('/').some((part) => NAMES_THAT_SAY_NOTHING.test(part.replace(/(\.test)?\.[cm]?[jt]sx?$/, ''))),
  )

  expect(nameless).toEqual([])
})

function typescriptIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => /\.[cm]?[jt]sx?$/.test(path) && !path.includes('node_modules/'))
    .sort()
}

function ruleOf(path: string): { own: string; rule: Rule } {
  const found = Object.entries(MAY_IMPORT).find(([prefix]) => path.startsWith(prefix))
  if (!found) throw new Error(`src/${path} has no rule: every folder of src/ has one in MAY_IMPORT`)
  return { own: found[0], rule: found[1] }
}

function packageAllowed(rule: Rule, { specifier, when }: Import): boolean {
  if (isBuiltin(specifier)) return rule.packages.includes('node:') || rule.packages.includes(specifier)
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  return rule.packages.includes(name) || (when === 'never' && (rule.types ?? []).includes(name))
}

/** Files that load each other, each circle as the way around it. */
function circles(paths: string[]): string[][] {
  const loads = new Map(
    paths.map((path) => [
      path,
      read(path).imports.flatMap(({ file, when }) => (file && when === 'load' ? [file] : [])),
    ]),
  )
  const done = new Set<string>()
  const found: string[][] = []

  const walk = (path: string, way: string[]): void => {
    if (way.includes(path)) found.push([...way.slice(way.indexOf(path)), path])
    if (done.has(path)) return
    done.add(path)
    for (const next of loads.get(path) ?? []) walk(next, [...way, path])
  }
  for (const path of paths) walk(path, [])
  return found
}

interface Import {
  specifier: string
  /** Path inside src/, or of the console's from the root, it leads to; undefined for a package. */
  file?: string | undefined
  /** Types are never loaded, `import()` is loaded later. */
  when: 'load' | 'later' | 'never'
}

interface Reading {
  imports: Import[]
  statements: { text: string; quoted: string }[]
  state: string[]
  prints: string[]
}

const readings = new Map<string, Reading>()

/** What a source file says, by its syntax tree: comments and look-alikes in text do not count. */
function read(path: string, folder = ''): Reading {
  const name = join(folder, path)
  const known = readings.get(name)
  if (known !== undefined) return known
  const text = readFileSync(join(folder || 'src', path), 'utf8')
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const reading: Reading = { imports: [], statements: [], state: [], prints: [] }

  const line = (node: ts.Node) => source.getLineAndCharacterOfPosition(node.getStart()).line + 1
  const quote = (node: ts.Node) => `line ${line(node)}: ${node.getText().replace(/\s+/g, ' ').slice(0, 80)}`
  const found = (specifier: ts.Node | undefined, when: Import['when']) => {
    // A computed `import(name)` cannot be judged: whoever needs one says so with a variable in the text.
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return
    const isOurs = specifier.text.startsWith('.')
    const file = isOurs ? join(dirname(name), specifier.text).replace(/\.js$/, '.ts') : undefined
    reading.imports.push({ specifier: specifier.text, file, when })
  }

  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) found(node.moduleSpecifier, isTypeImport(node) ? 'never' : 'load')
    else if (ts.isExportDeclaration(node)) found(node.moduleSpecifier, node.isTypeOnly ? 'never' : 'load')
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) found(node.argument.literal, 'never')
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      found(node.arguments[0], 'later')
    else if (ts.isCallExpression(node) && node.expression.getText() === 'require') found(node.arguments[0], 'load')
    else if (isText(node) && STATEMENT.test(textOf(node)))
      reading.statements.push({ text: textOf(node), quoted: quote(node) })
    else if (isPrinting(node)) reading.prints.push(quote(node))

    ts.forEachChild(node, visit)
  }
  visit(source)
  reading.state = source.statements.filter(isMutableState).map(quote)
  readings.set(name, reading)
  return reading
}

function isTypeImport({ importClause }: ts.ImportDeclaration): boolean {
  if (importClause === undefined) return false
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const { name, namedBindings } = importClause
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false
  return namedBindings.elements.length > 0 && namedBindings.elements.every((element) => element.isTypeOnly)
}

function isText(node: ts.Node): node is ts.StringLiteralLike | ts.TemplateExpression {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)
}

/** Begins like a statement and goes on like one, so that a sentence beginning with "select" or "with" does not count. */
const STATEMENT = new RegExp(
  `^\\s*(${[
    'select\\s[^]*\\bfrom\\b',
    'select\\s+(\\$|\\d|[\\w."]+\\()',
    'insert\\s+into\\s',
    'update\\s+\\S+\\s+((as\\s+)?\\w+\\s+)?set\\s',
    'delete\\s+from\\s',
    'with\\s+(recursive\\s+)?\\w+\\s*(\\([^)]*\\)\\s*)?as\\s+(not\\s+)?(materialized\\s+)?\\(',
    '(create|alter|drop)\\s+(unique\\s+)?(table|index|schema|sequence|function|type|view|database|role)\\s',
    'truncate\\s+(table\\s|only\\s|\\S+$)',
    'lock\\s+table\\s',
    'copy\\s[^]*\\b(from\\s+stdin|to\\s+stdout)\\b',
  ].join('|')})`,
  'i',
)

/** What it says, with a word in place of each value. */
function textOf(node: ts.StringLiteralLike | ts.TemplateExpression): string {
  if (!ts.isTemplateExpression(node)) return node.text
  return node.head.text + node.templateSpans.map((span) => `x${span.literal.text}`).join('')
}

function isPrinting(node: ts.Node): boolean {
  return ts.isPropertyAccessExpression(node) && /^(console|process\.std(out|err))$/.test(node.expression.getText())
}

/** A variable of the module, or a constant that is an empty collection waiting to be filled. */
function isMutableState(statement: ts.Statement): boolean {
  if (!ts.isVariableStatement(statement)) return false
  if (statement.modifiers?.some((it) => it.kind === ts.SyntaxKind.DeclareKeyword)) return false
  if ((statement.declarationList.flags & ts.NodeFlags.Const) === 0) return true
  return statement.declarationList.declarations.some(({ initializer, type }) => {
    if (initializer === undefined || /^readonly/i.test(type?.getText() ?? '')) return false
    if (ts.isArrayLiteralExpression(initializer)) return initializer.elements.length === 0
    if (ts.isObjectLiteralExpression(initializer)) return initializer.properties.length === 0
    return ts.isNewExpression(initializer) && /Map|Set|Array/.test(initializer.expression.getText())
      ? (initializer.arguments ?? []).length === 0
      : false
  })
}
