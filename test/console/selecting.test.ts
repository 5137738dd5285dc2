import { expect, it } from 'vitest'
import { describeConsole } from './browser.js'

const SIZES = {
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  desk: { viewport: { width: 1280, height: 800 } },
}
const COUNT = 12

describeConsole('rows to be selected', ({ serve, open, given }) => {
  const start = async (size: keyof typeof SIZES) => {
    await given.jobs(COUNT, { state: 'archived', queue: 'email', kind: 'send_receipt', cause: 'smtp-refused' })
    const { url } = await serve()
    const page = await open(`${url}/dlq?queue=email`, SIZES[size])
    const boxes = page.getByRole('checkbox', { name: /^Select dead letter/ })
    await boxes.nth(1).scrollIntoViewIfNeeded()
    const placeOf = async (n: number) => {
      const place = await boxes.nth(n).boundingBox()
      if (place === null) throw new Error(`the box of row ${n} is not shown`)
      return place
    }
    return { page, boxes, placeOf }
  }

  it.each(['phone', 'desk'] as const)('stay where they are when one is, on a %s', async (size) => {
    const { page, boxes, placeOf } = await start(size)
    const before = [await placeOf(0), await placeOf(1)]

    // As a hand does it, which does not look again where a row is.
    const [first, second] = before.map(({ x, y }) => [x - 4, y - 4] as const)
    const hit = (at: readonly [number, number]) =>
      size === 'phone' ? page.touchscreen.tap(...at) : page.mouse.click(...at)
    await hit(first ?? [0, 0])
    await page.getByText('1 dead letter selected').waitFor()
    await hit(second ?? [0, 0])
    await page.getByText('2 dead letters selected').waitFor()

    expect([await placeOf(0), await placeOf(1)]).toEqual(before)
    expect(await boxes.nth(1).isChecked()).toBe(true)
  })

  it('stay where they are when the bar, or the search, gets the focus', async () => {
    const { page, boxes } = await start('desk')
    await boxes.nth(0).check()
    const bar = page.getByRole('region', { name: 'Selection' })
    await bar.waitFor()
    await page.evaluate('scrollTo(0, 150)')
    const where = () => page.evaluate<number>('scrollY')
    const before = await where()
    expect(before).toBeGreaterThan(0)

    await bar.getByRole('button', { name: 'Retry …' }).focus()
    expect(await where()).toBe(before)
    await page.getByRole('textbox', { name: 'Job id, or text of an error' }).focus()
    expect(await where()).toBe(before)
  })

  it('can each be reached beside the bar that says how many are, on a phone', async () => {
    const { page, boxes } = await start('phone')

    for (let n = 0; n < COUNT; n++) await boxes.nth(n).tap()

    await page.getByRole('region', { name: 'Selection' }).getByText(`${COUNT} dead letters selected`).waitFor()
  })
})
