import { createConfig, lintFromString } from '@redocly/openapi-core'
import openapiTS, { astToString } from 'openapi-typescript'
import { expect, it } from 'vitest'
import { CONTRACT, openapi, type Route } from '../../src/http/index.js'
import { describeStore } from '../support/store.js'
import { apiOn } from './api.js'

// biome-ignore lint/suspicious/noExplicitAny: it is looked into as a stranger would.
const document = openapi('0.0.0') as any
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as object).map(([method, operation]) => ({ path, method, operation })),
)

it('has every route of the contract, under its name', () => {
  const names = operations.map(({ operation }) => operation.operationId)

  expect(names.sort()).toEqual(Object.keys(CONTRACT).sort())
})

it('leads every reference to a schema', () => {
  const text = JSON.stringify(document)
  const referred = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref)

  expect(referred.length).toBeGreaterThan(20)
  const lost = referred.filter(
    (ref) => !((ref?.replace('#/components/schemas/', '') as string) in document.components.schemas),
  )
  expect(lost).toEqual([])
  expect(text).not.toContain('$defs')
})

it.each(operations.map(({ path, method, operation }) => [`${method} ${path}`, operation] as const))(
  '%s says what it takes, answers and refuses',
  (line, operation) => {
    const inPath = operation.parameters
      .filter((it: { in: string }) => it.in === 'path')
      .map((it: { name: string }) => it.name)

    expect(inPath).toEqual([...line.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
    expect(new Set(operation.parameters.map((it: { in: string; name: string }) => `${it.in} ${it.name}`)).size).toBe(
      operation.parameters.length,
    )
    expect(Object.keys(operation.responses).some((status) => status.startsWith('2'))).toBe(true)
    expect(operation.responses['401']).toBeDefined()
    expect(operation.summary).toMatch(/^[A-Z].{5,}/)
    expect(document.tags.map((it: { name: string }) => it.name)).toContain(operation.tags[0])
  },
)

it('is understood by a generator of types', async () => {
  const types = astToString(await openapiTS(JSON.stringify(document)))

  for (const name of Object.keys(CONTRACT)) expect(types).toContain(`${name}: {`)
})

it('is what a linter expects of one', async () => {
  // `/dlq/{id}` and `/dlq/depth` never meet: an id is digits only.
  const config = await createConfig({ extends: ['recommended'], rules: { 'no-ambiguous-paths': 'off' } })

  const problems = await lintFromString({ source: JSON.stringify(document), config })

  expect(problems.map(({ ruleId, message, location }) => `${ruleId} at ${location[0]?.pointer}: ${message}`)).toEqual(
    [],
  )
})

it('closes every input: what is unknown is refused', () => {
  for (const [name, { body }] of Object.entries(CONTRACT) as [string, Route][]) {
    if (body === undefined) continue
    const result = body.safeParse({ certainly_unknown: 1 })
    expect(result.success, name).toBe(false)
  }
})

describeStore('the documents', ({ store }) => {
  it('are served at both places, with a page for people', async () => {
    const api = apiOn(store)

    const { status, body } = await api('GET /api/v1/openapi.json')
    const page = await api('GET /api/docs')

    expect(status).toBe(200)
    // Word for word: what the generator and the linter have seen is what everybody gets.
    expect({ ...body, info: { ...body.info, version: '0.0.0' } }).toEqual(document)
    expect(page.headers.get('content-type')).toMatch(/^text\/html/)
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe-inline')
    expect(page.text).not.toContain('<script')
    for (const { path } of Object.values(CONTRACT)) expect(page.text).toContain(path)
  })

  it('say where a mounted API is', async () => {
    const api = apiOn(store, { basePath: '/queues' })

    const { body } = await api('GET //queues/api/v1/openapi.json')

    expect(body.servers).toEqual([{ url: '/queues/api/v1' }])
  })
})
