import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { aDeath } from './a-death.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'
import { namesOf } from './names-of.js'
import { screens } from './screens.js'

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']
const OF_COLOURS = ['color-contrast', 'link-in-text-block']
const LOADING = '[role="status"]:is([aria-label^="Loading"], [aria-label^="Looking"], [aria-label^="Comparing"])'
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
  'Payload in the editor': {
    at: 'Dead letter',
    async open(page) {
      await page.getByRole('button', { name: 'Show the payload' }).click()
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await page.getByRole('textbox', { name: 'Payload as JSON' }).waitFor()
    },
  },
}

/** A button that asks before something is changed, by its name. */
const ASKING = / …$|^(Delete|Edit|Pause|Prune|Release|Revoke|Show .* again|Test|Tune)\b/

describeConsole('everybody can use', ({ serve, open, given, client }) => {
  const start = async (size: keyof typeof SIZES) => {
    await incident(given, client)
    const [id] = await aDeath(given)
    await client.tokens.create({ name: 'on call', role: 'operator' })
    await client.webhooks.create({ url: 'https://93.184.216.34/dead', types: ['evicted'] })
    await client.masking.add('customer.email')
    const { url } = await serve()
    const page = await open(url, { colorScheme: 'light', reducedMotion: 'reduce', ...SIZES[size] })
    return { url, page, paths: await screens({ given, client }, id) }
  }
  const at = async (page: Page, address: string) => {
    await page.goto(address)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await loaded(page)
  }
  const loaded = (page: Page) => page.locator(LOADING).first().waitFor({ state: 'detached' })
  const turn = async (page: Page, colorScheme: 'light' | 'dark') => {
    await page.emulateMedia({ colorScheme })
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
  }
  // The console has no frames; to put those of frames together it would open a page of its own each time.
  const axe = (page: Page, part: string) => new AxeBuilder({ page }).include(part).setLegacyMode()
  /** In the light everything, and in the dark what colours make different. */
  const violationsOf = async (page: Page, what: string, part = 'html'): Promise<readonly string[]> => {
    const light = await axe(page, part).withTags(TAGS).analyze()
    await turn(page, 'dark')
    const dark = await axe(page, part).withRules(OF_COLOURS).analyze()
    await turn(page, 'light')
    return [...light.violations, ...dark.violations.map((it) => ({ ...it, id: `${it.id}, in the dark` }))].map(
      ({ id, nodes }) =>
        `${what}: ${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' ')}`,
    )
  }

  it.each(Object.keys(SIZES) as (keyof typeof SIZES)[])(
    'every screen, on a %s, in the light and in the dark',
    { timeout: 240_000 },
    async (size) => {
      const { url, page, paths } = await start(size)

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

  it('what opens over a screen', { timeout: 180_000 }, async () => {
    const { url, page, paths } = await start('desktop')

    const found: string[] = []
    for (const [name, opened] of Object.entries(OPENED)) {
      await at(page, `${url}${paths[opened.at]}`)
      await opened.open(page)
      found.push(...(await violationsOf(page, name)))
    }

    expect(found).toEqual([])
  })

  it('every dialog that asks before something is changed', { timeout: 240_000 }, async () => {
    const { url, page, paths } = await start('desktop')
    const dialog = page.getByRole('dialog')

    const isLong = process.env['SPILLWAY_EFFORT'] === 'long'
    const found: string[] = []
    const asked: string[] = []
    for (const [screen, path] of Object.entries(paths)) {
      await at(page, `${url}${path}`)
      const all = page.getByRole('checkbox', { name: 'Select all rows of this page' })
      if ((await all.count()) > 0) await all.first().check()
      const buttons = await namesOf(page.getByRole('button', { name: ASKING }).and(page.locator(':enabled')))
      for (const name of buttons) {
        // Of those of one name, as one for each ring, the first; with the long effort the first of each screen.
        const kind = `${name.endsWith('…') ? name : name.split(' ')[0]}${isLong ? ` of ${screen}` : ''}`
        if (asked.includes(kind)) continue
        asked.push(kind)
        await page.getByRole('button', { name, exact: true }).first().click()
        await dialog.waitFor()
        await loaded(page)
        found.push(...(await violationsOf(page, `${screen}, ${name}`, '[role="dialog"]')))
        await page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'detached' })
      }
    }

    expect(found).toEqual([])
    expect(asked.length, asked.join(', ')).toBeGreaterThan(15)
  })
})
