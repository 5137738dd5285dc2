import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { aDeath } from './a-death.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'
import { screens } from './screens.js'

const SIZES = { desktop: {}, phone: { viewport: { width: 390, height: 844 } } }

/** Dialogs and menus: the screen they belong to, and how one opens them. */
const OPENED: Readonly<Record<string, { readonly at: string; readonly open: (page: Page) => Promise<void> }>> = {
  Help: { at: 'Overview', open: (page) => page.keyboard.press('?') },
  Colours: { at: 'Overview', open: (page) => page.getByRole('button', { name: 'Colours' }).click() },
  'A new filter': {
    at: 'Dead letters',
    async open(page) {
      await page.getByRole('button', { name: 'Filter', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Error has' }).click()
    },
  },
  'Retry of many': {
    at: 'Dead letters',
    async open(page) {
      await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
      await page.getByRole('button', { name: 'Retry …' }).click()
      await page.getByText(/^Exactly/).waitFor()
    },
  },
  Purge: {
    at: 'Dead letter',
    async open(page) {
      await page.getByRole('button', { name: 'Purge …' }).click()
      await page.getByText(/^Exactly/).waitFor()
    },
  },
  'Payload in the editor': {
    at: 'Dead letter',
    async open(page) {
      await page.getByRole('button', { name: 'Show the payload' }).click()
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await page.getByRole('textbox', { name: 'Payload as JSON' }).waitFor()
    },
  },
}

describeConsole('everybody can use', ({ serve, open, given, client }) => {
  const start = async () => {
    await incident(given, client)
    const [id] = await aDeath(given)
    const { url } = await serve()
    return { url, paths: await screens({ given, client }, id) }
  }
  const at = async (page: Page, address: string) => {
    await page.goto(address)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.locator('[role="status"][aria-label^="Loading"]').first().waitFor({ state: 'detached' })
  }
  const violationsOf = async (page: Page, what: string): Promise<readonly string[]> => {
    const { violations } = await new AxeBuilder({ page })
      .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'])
      // The console has no frames; to put those of frames together it would open a page of its own each time.
      .setLegacyMode()
      .analyze()
    return violations.map(({ id, nodes }) => `${what}: ${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  }

  const all = (['light', 'dark'] as const).flatMap((colorScheme) =>
    (Object.keys(SIZES) as (keyof typeof SIZES)[]).map((size) => ({ colorScheme, size })),
  )
  // Each takes a minute: both schemes and both sizes always, every pair with the long effort.
  const isLong = process.env['SPILLWAY_EFFORT'] === 'long'
  const cases = all.filter(({ colorScheme, size }) => isLong || (colorScheme === 'light') === (size === 'desktop'))
  const schemes = isLong ? (['light', 'dark'] as const) : (['dark'] as const)

  it.each(cases)(
    'every screen, in the $colorScheme, on a $size',
    { timeout: 240_000 },
    async ({ colorScheme, size }) => {
      const { url, paths } = await start()
      const page = await open(url, { colorScheme, reducedMotion: 'reduce', ...SIZES[size] })

      const found: string[] = []
      for (const [name, path] of Object.entries(paths)) {
        await at(page, `${url}${path}`)
        found.push(...(await violationsOf(page, name)))
        const width = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
        if (Number(width) > 0) found.push(`${name}: is ${width} px wider than the window`)
      }

      expect(found).toEqual([])
    },
  )

  it.each(schemes)('what opens over a screen, in the %s', { timeout: 180_000 }, async (colorScheme) => {
    const { url, paths } = await start()
    const page = await open(url, { colorScheme, reducedMotion: 'reduce' })

    const found: string[] = []
    for (const [name, opened] of Object.entries(OPENED)) {
      await at(page, `${url}${paths[opened.at]}`)
      await opened.open(page)
      found.push(...(await violationsOf(page, name)))
    }

    expect(found).toEqual([])
  })
})
