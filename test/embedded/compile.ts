import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'

const root = resolve(import.meta.dirname, '../..')

/**
 * Compiles `src/embedded` into `folder`, because processes of their own can run neither TypeScript nor a `dist` that
 * may not be there. Packages are found through a link to ours, which is the folder's only tie to the clone.
 *
 * @returns the file URL of the compiled index.
 */
export function compileEmbedded(folder: string, modules = join(root, 'node_modules')): string {
  const out = join(folder, 'embedded')
  mkdirSync(out, { recursive: true })
  for (const name of readdirSync(join(root, 'src/embedded'))) {
    const { outputText } = ts.transpileModule(readFileSync(join(root, 'src/embedded', name), 'utf8'), {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true },
    })
    writeFileSync(join(out, name.replace(/\.ts$/, '.js')), outputText)
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  symlinkSync(modules, join(folder, 'node_modules'))
  return pathToFileURL(join(out, 'index.js')).href
}
