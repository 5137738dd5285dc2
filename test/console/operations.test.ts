import { expect, it } from 'vitest'
import { until } from '../support/patience.js'
import { describeConsole } from './browser.js'

const DEAD = { state: 'archived', queue: 'billing', kind: 'charge_card', cause: 'gateway-timeout' } as const
const SLOW = { rate: 1 } as const

describeConsole('operations', ({ serve, open, given, client, complaints }) => {
  const begin = async (options: object, count = 40) => {
    await given.jobs(count, DEAD)
    const { url } = await serve()
    const { started } = await client.dlq.retryMany({ queue: 'billing' }, options)
    const page = await open(`${url}/operations/${started.id}`)
    await page.getByRole('heading', { name: `Operation ${started.id}` }).waitFor()
    const state = () => client.operations.get(started.id)
    return { page, url, id: started.id, state }
  }

  it('are listed, the newest first, and each leads to its own page', async () => {
    const { page, url, id } = await begin(SLOW)
    await page.goto(`${url}/operations`)

    const row = page.getByRole('table', { name: 'Operations' }).getByRole('row', { name: /Retry: queue billing/ })
    await row.getByText('of 40').waitFor()
    await row.getByRole('link', { name: id }).click()

    await page.getByRole('region', { name: 'Progress' }).getByText('Running').waitFor()
  })

  it('move on under the eyes of whoever looks, and end without a reload', async () => {
    const { page, state } = await begin(SLOW)
    const progress = page.getByRole('region', { name: 'Progress' })
    await progress.getByText('Running').waitFor()

    await page.getByRole('checkbox', { name: 'No limit' }).check()
    await page.getByRole('button', { name: 'Change the pace' }).click()
    await progress.getByText('It is over.').waitFor()

    await progress.getByText('40 of 40').waitFor()
    await progress.getByText('Done', { exact: true }).first().waitFor()
    expect(await state()).toMatchObject({ state: 'done', succeeded: 40, rate: null })
  })

  it('are paused, resumed and cancelled, and say each time what stays as it is', async () => {
    const { page, state } = await begin(SLOW)

    await page.getByRole('button', { name: 'Pause …' }).click()
    await page.getByRole('dialog').getByText('It stops between two batches').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click()
    await page
      .getByRole('dialog')
      .getByText(/is paused/)
      .waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click()
    await page.getByText('It stands still between two batches.').waitFor()
    await page.getByRole('button', { name: 'Cancel …' }).click()
    await page.getByRole('dialog').getByText('What it has done stays done').waitFor()
    await page.getByRole('button', { name: 'Cancel the operation' }).click()
    await page
      .getByRole('dialog')
      .getByText(/is cancelled/)
      .waitFor()

    const ended = await state()
    expect(ended).toMatchObject({ state: 'cancelled' })
    expect(await client.dlq.count({ queue: 'billing' })).toBe(40 - (ended?.succeeded ?? 0))
  })

  it('are taken back as far as no worker has begun, and say so before', async () => {
    const { page } = await begin({}, 3)
    await page.getByText('It is over.').waitFor()

    await page.getByRole('button', { name: 'Undo …' }).click()
    const dialog = page.getByRole('dialog', { name: /^Undo operation/ })
    await dialog.getByText('Of the 3 jobs it sent back, those that no worker has begun').waitFor()
    await dialog.getByRole('button', { name: 'Undo', exact: true }).click()
    await dialog.getByText('It is over: 3 done, 0 skipped, 0 refused.').waitFor()

    expect(await client.dlq.count({ queue: 'billing' })).toBe(3)
  })

  it('have no way back where there is none: after a purge, a dry run, and what was taken back already', async () => {
    const { page, url, id } = await begin({}, 3)
    await page.getByRole('button', { name: 'Undo …' }).waitFor()
    const over = async (started: { done(): Promise<unknown>; started: { id: string } }) => {
      await started.done()
      return started.started.id
    }
    const undo = await over(await client.dlq.undo(id))
    const tried = await over(await client.dlq.retryMany({ queue: 'billing' }, { dryRun: true }))
    const purge = await over(await client.dlq.purgeMany({ queue: 'billing' }))

    for (const it of [id, undo, tried, purge]) {
      await page.goto(`${url}/operations/${it}`)
      await page.getByText('It is over.').waitFor()
      expect(await page.getByRole('button', { name: 'Undo …' }).count(), it).toBe(0)
    }
  })

  it('name each row they did not do, and count them by reason', async () => {
    await given.job({ state: 'available', uniqueKey: 'order-1' })
    await given.job({ ...DEAD, uniqueKey: 'order-1' })
    const { page } = await begin({}, 2)

    const rows = page.getByRole('region', { name: 'Not done' })
    await rows.getByRole('list', { name: 'By reason, on this page' }).getByText('unique conflict').waitFor()
    expect(await rows.getByRole('row', { name: /Refused/ }).count()).toBe(1)
    await page.getByLabel('Outcomes').getByText('Died later, left alone').waitFor()
  })

  it('have a slider for their pace whose track is dark in the dark', async () => {
    const { page } = await begin(SLOW)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()

    const picture = await page.getByRole('slider').screenshot()

    // Right of its handle, which stands on the left.
    const light = await page.evaluate<number>(`(async () => {
      const bytes = Uint8Array.from(atob('${picture.toString('base64')}'), (it) => it.charCodeAt(0))
      const image = await createImageBitmap(new Blob([bytes]))
      const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d')
      canvas.drawImage(image, 0, 0)
      return Math.max(...canvas.getImageData(image.width * 0.7, image.height / 2, 1, 1).data.slice(0, 3))
    })()`)
    expect(light).toBeLessThan(128)
  })

  it('say of a dry run how many it found, and not that any of them is to come', async () => {
    const { page, url } = await begin({ dryRun: true }, 3)

    await page.getByRole('region', { name: 'Progress' }).getByText('3 rows found').waitFor()
    expect(await page.getByLabel('Outcomes').count()).toBe(0)
    await page.goto(`${url}/operations`)
    const row = page.getByRole('table', { name: 'Operations' }).getByRole('row', { name: /Dry run of a retry/ })
    await row.getByText('3 rows found').waitFor()
    expect(await row.getByRole('progressbar').count()).toBe(0)
  })

  it('wait for their canaries, and the page says for how many', async () => {
    const { page } = await begin({ canary: 2 })

    await page.getByText('It has sent 2 canaries ahead, and waits how they do before the rest follows.').waitFor()
    await page.getByLabel('Outcomes').getByText('38').waitFor()
  })

  it('keep their pace where the server does not answer, and the page says that nobody knows', async () => {
    const { page, state } = await begin(SLOW)
    await page.getByRole('spinbutton', { name: 'Rows a second' }).fill('2')

    await page.route('**/api/v1/operations/*', (route) =>
      route.request().method() === 'PATCH' ? route.abort() : route.continue(),
    )
    await page.getByRole('button', { name: 'Change the pace' }).click()
    await page.getByText('No answer', { exact: true }).waitFor()
    expect(await state()).toMatchObject({ rate: 1 })
    await page.unroute('**/api/v1/operations/*')
    await page.getByRole('button', { name: 'Send again' }).click()

    await until(async () => (await state())?.rate === 2)
    complaints() // The browser logs the request that was cut.
  })
})
