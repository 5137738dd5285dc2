import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InputData, JSONSchemaInput, JSONSchemaStore, quicktypeMultiFile } from 'quicktype-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

// biome-ignore lint/suspicious/noExplicitAny: a document that is read as a stranger would.
type Json = any

/** What a generator makes models of, by name, and the names of what each has to hold. */
type Parts = ReadonlyMap<string, readonly string[]>

const LANGUAGES = {
  java: {
    compile: (folder: string, files: readonly string[]) => ['javac', '-proc:none', '-d', join(folder, 'out'), ...files],
    class: (name: string) => new RegExp(`public class ${name} \\{(.*?)^\\}`, 'ims'),
  },
  python: {
    // Importing it makes every class, which compiling alone would not.
    compile: (folder: string) => [
      'python3',
      '-c',
      `import sys; sys.path.insert(0, ${JSON.stringify(folder)}); import models`,
    ],
    class: (name: string) => new RegExp(`^class ${name}:(.*?)^(?=\\S)`, 'ims'),
  },
} as const

describeStore('models of our document in another language', ({ store }) => {
  const folder = mkdtempSync(join(tmpdir(), 'spillway-models-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  let document: Json
  beforeAll(async () => {
    document = (await apiOn(store)('GET /api/v1/openapi.json')).body
  })

  describe.each(Object.entries(LANGUAGES))('%s', (language, { compile, class: shape }) => {
    const written: string[] = []
    let text = ''
    beforeAll(async () => {
      for (const [name, { lines }] of await modelsOf(document, language as keyof typeof LANGUAGES)) {
        const file = join(folder, name)
        writeFileSync(file, lines.join('\n'))
        written.push(file)
        text += `${lines.join('\n')}\n#\n`
      }
    }, 120_000)

    it('have every schema and every operation, each with all it takes, answers and refuses', () => {
      const missing = [...partsOf(document)].flatMap(([name, parts]) => {
        const body = shape(name).exec(text)?.[1]
        if (body === undefined) return [name]
        const plain = body.replace(/_/g, '').toLowerCase()
        return parts
          .filter((part) => !plain.includes(part.replace(/\W|_/g, '').toLowerCase()))
          .map((it) => `${name}.${it}`)
      })

      expect(missing).toEqual([])
    })

    it('are understood by its compiler', ({ skip }) => {
      const [program = '', ...args] = compile(folder, written)
      const { error, status, stderr } = spawnSync(program, args, { encoding: 'utf8' })

      skip(error !== undefined, `there is no ${program} on this machine`)
      expect([status, stderr]).toEqual([0, ''])
    }, 120_000)
  })
})

/** Operations as objects, so that a generator of models makes one for each. */
function callsOf(document: Json): Record<string, { type: 'object'; properties: Record<string, Json> }> {
  const operations: Json[] = Object.values(document.paths).flatMap((methods) => Object.values(methods as object))
  return Object.fromEntries(
    operations.map((it) => {
      const contents: [string, Json][] = [
        ['body', it.requestBody],
        ...Object.entries<Json>(it.responses).map(([status, answer]): [string, Json] => [`answer_${status}`, answer]),
      ]
      const properties = Object.fromEntries([
        ...it.parameters.map((parameter: Json) => [`${parameter.in}_${parameter.name}`, parameter.schema]),
        ...contents.flatMap(([name, { content = {} } = {}]) =>
          Object.values<Json>(content).map(({ schema }) => [name, schema]),
        ),
      ])
      return [`${it.operationId}Call`, { type: 'object', properties }]
    }),
  )
}

function partsOf(document: Json): Parts {
  const parts = new Map<string, readonly string[]>()
  for (const [name, { properties = {} }] of Object.entries<Json>({
    ...document.components.schemas,
    ...callsOf(document),
  })) {
    parts.set(name, Object.keys(properties))
  }
  return parts
}

async function modelsOf(document: Json, lang: keyof typeof LANGUAGES) {
  const whole = { ...document, calls: callsOf(document) }
  class OwnStore extends JSONSchemaStore {
    fetch() {
      return Promise.resolve(whole)
    }
  }
  const schemas = new JSONSchemaInput(new OwnStore())
  for (const place of ['components/schemas', 'calls']) {
    const names = Object.keys(place === 'calls' ? whole.calls : document.components.schemas)
    for (const name of names) await schemas.addSource({ name, uris: [`document.json#/${place}/${name}`] })
  }
  const inputData = new InputData()
  inputData.addInput(schemas)
  const rendererOptions = { 'just-types': true, ...(lang === 'java' ? { package: 'models' } : {}) }
  return quicktypeMultiFile({ inputData, lang, outputFilename: 'models.py', rendererOptions })
}
