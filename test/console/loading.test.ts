import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { createHandler, toExpress } from '../../src/http/index.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'
import { mounted } from './mounted.js'

describeConsole('the console', ({ serve, open, after, given, client, complaints }) => {
  const onPort = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener)
    after(() => {
      server.closeAllConnections()
      server.close()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

  it('opens with nothing that its own policy refuses', async () => {
    await incident(given, client)
    const { url } = await serve()

    const page = await open(url)
    await heading(page, 'Overview').waitFor()
    await page.getByRole('img', { name: /arrived and/ }).waitFor()
    await page.getByRole('button', { name: 'Colours' }).click()
    await page.getByRole('menuitem', { name: 'Dark' }).click()
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()

    expect(complaints()).toEqual([])
    expect(await page.title()).toBe('Overview · Spillway')
  })

  it('draws in the dark from the first moment for those who chose it', async () => {
    const { url } = await serve()
    const page = await open(url, { colorScheme: 'dark' })

    // Before any module has run: only the script that blocks is let through.
    await page.route('**/assets/*.js', (route) => route.abort())
    await page.goto(url, { waitUntil: 'commit' })
    await page.waitForLoadState('domcontentloaded')
    const scheme = await page.locator('html').getAttribute('data-mantine-color-scheme')
    complaints()

    expect(scheme).toBe('dark')
  })

  const PLACES: Readonly<Record<string, () => Promise<string>>> = {
    'the root': async () => (await serve()).url,
    'a path of an Express application': async () => {
      const app = express().use(
        '/admin/jobs',
        toExpress(createHandler({ spillway: client, access: 'open', console: true })),
      )
      return `${await onPort(app)}/admin/jobs`
    },
    'a path that a proxy cuts off': () => mounted({ serve, after }, '/ops/queues'),
  }

  it.each(Object.entries(PLACES))('works under %s, also when an address of its inside is opened', async (_, place) => {
    await incident(given, client)
    const [dead] = (await client.dlq.list({ queue: 'billing' })).items
    const at = await place()

    const page = await open(`${at}/dlq?queue=billing`)
    await heading(page, 'Dead letters').waitFor()
    await page
      .getByRole('row', { name: /payment gateway did not answer/ })
      .first()
      .waitFor()
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await heading(page, 'Overview').waitFor()
    await page.goto(`${at}/dlq/${dead?.id}`)
    await heading(page, `Dead letter ${dead?.id}`).waitFor()
    await page.getByRole('link', { name: 'Dead letters', exact: true }).click()
    await heading(page, 'Dead letters').waitFor()

    expect(page.url()).toBe(`${at}/dlq`)
  })

  it('is found at a mount whose last slash is missing', async () => {
    const at = await PLACES['a path of an Express application']?.()

    const page = await open(`${at}`)
    await heading(page, 'Overview').waitFor()

    expect(page.url()).toBe(`${at}/`)
  })
})
