import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { Client } from '../../src/client/client.js'
import { type Listening, type ListenOptions, listen } from '../../src/http/index.js'
import { Maintenance } from '../../src/maintenance/maintenance.js'
import { StandingMaintenance } from '../../src/maintenance/standing.js'
import { describeStore, type StoreSuite, type StoreSuiteOptions } from '../support/store.js'
import { watchChanges } from './sent-changes.js'

const CHROMIUM = process.env['SPILLWAY_CHROMIUM'] ?? '/usr/bin/chromium'
const ARGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync'],
]

export interface ConsoleSuite extends StoreSuite {
  readonly client: Client
  /** The console as `spillway serve` serves it, on the store of the suite; ended after the test. */
  serve(options?: Partial<ListenOptions>): Promise<Listening>
  /** A page of a fresh browser context. What it complains about fails the test. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>
  /** For what a test starts by itself: ended after its pages, the last one first. */
  after(end: () => unknown): void
  /** Takes back what pages complained about so far: for tests that make them. */
  complaints(): readonly string[]
}

/**
 * A suite in a real browser, on a real server and database. Without a browser it is left out, aloud; in CI that is a failure.
 * After each test no page may have logged an error, thrown, been refused something by its own policy, or sent a change that
 * could be made twice.
 */
export function describeConsole(
  name: string,
  suite: (context: ConsoleSuite) => void,
  options: StoreSuiteOptions = {},
): void {
  if (!existsSync(CHROMIUM)) {
    if (process.env['CI']) throw new Error(`${CHROMIUM} is not there, and CI requires it`)
    describe.skip(`${name}: no ${CHROMIUM}; SPILLWAY_CHROMIUM can name another`, () => undefined)
    return
  }
  describeStore(
    name,
    (context) => {
      const client = new Client({ store: context.store, actor: 'tests' })
      const heard: string[] = []
      const wrong: string[] = []
      const ends: (() => unknown)[] = []
      const pages: Page[] = []
      let browser: Browser
      beforeAll(async () => {
        browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS })
      })
      afterAll(() => browser?.close())
      afterEach(async ({ task }) => {
        if (task.result?.state === 'fail') await tellOf(pages)
        pages.length = 0
        for (const end of ends.splice(0).reverse()) await end()
        expect([...heard.splice(0), ...wrong.splice(0)], 'what pages complained about, or sent wrongly').toEqual([])
      })

      suite({
        ...context,
        client,
        complaints: () => heard.splice(0),
        after: (end) => ends.push(end),
        async serve(options = {}) {
          const listening = await listen({
            spillway: client,
            access: 'open',
            port: 0,
            freshMs: 0,
            stopAfterMs: 100,
            ...options,
          })
          const duties = new StandingMaintenance(context.store, new Maintenance(context.store))
          await duties.start()
          ends.push(async () => {
            await listening.stop()
            await duties.stop()
          })
          return listening
        },
        async open(url, options = {}) {
          const inside = await browser.newContext(options)
          ends.push(() => inside.close())
          const page = await inside.newPage()
          pages.push(page)
          watchChanges(page, (text) => wrong.push(text))
          page.on('pageerror', (error) => heard.push(`thrown: ${error.message}`))
          page.on('console', (message) => {
            if (message.type() === 'error' || message.type() === 'warning')
              heard.push(`${message.type()}: ${message.text()}`)
          })
          await page.goto(url)
          return page
        },
      })
    },
    options,
  )
}

/** What the pages of a test that failed had on them, for whoever was not there. */
async function tellOf(pages: readonly Page[]): Promise<void> {
  for (const page of pages.filter((it) => !it.isClosed())) {
    const text = await page.evaluate<string>('document.body.innerText').catch(String)
    console.error(`${page.url()} showed:\n${text.slice(-3_000)}`)
  }
}
