import { AxeBuilder } from '@axe-core/playwright'
import { expect, it } from 'vitest'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'

const SCREENS = {
  Overview: '/',
  'Dead letters': '/dlq',
  'Dead letters of a cause': '/dlq?queue=billing&cause=gateway-timeout',
}
const PHONE = { viewport: { width: 390, height: 844 } }

describeConsole('everybody can use', ({ serve, open, given, client }) => {
  const cases = Object.entries(SCREENS).flatMap(([name, path]) =>
    (['light', 'dark'] as const).map((colorScheme) => ({ name, path, colorScheme })),
  )

  it.each(cases)('$name in the $colorScheme', async ({ path, colorScheme }) => {
    await incident(given, client)
    const { url } = await serve()

    for (const options of [{}, PHONE]) {
      const page = await open(`${url}${path}`, { colorScheme, reducedMotion: 'reduce', ...options })
      await page.getByText('payment gateway did not answer').first().waitFor()
      await page.locator('[role="status"][aria-label^="Loading"]').waitFor({ state: 'detached' })
      const { violations } = await new AxeBuilder({ page })
        .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'])
        .analyze()

      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
    }
  })
})
