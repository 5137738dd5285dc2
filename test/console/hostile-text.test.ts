import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { HistoryEntry } from '../../src/job/history.js'
import { describeConsole } from './browser.js'
import { mounted } from './mounted.js'

/** Markup, attributes, links, templates, and characters that turn text around or draw nothing. */
const CORPUS: Readonly<Record<string, string>> = {
  markup: [
    `<img src=x onerror=window.ran=1>"></title></script><script>window.ran=1</script>`,
    `<svg/onload=window.ran=1><iframe srcdoc="<script>top.ran=1</script>">`,
    `<a href="https://evil.example/">here</a>`,
  ].join(''),
  'attributes and templates': [
    `x" onmouseover="window.ran=1" style="position:fixed;inset:0" '`,
    `{{constructor.constructor("window.ran=1")()}}\${window.ran=1}<%= window.ran=1 %>`,
  ].join(''),
  'a link': 'javascript:window.ran=1',
  'turned and unseen': 'invoice\u202Efdp.exe\u2066\u200B\u00AD\uFEFF',
}
/** Nothing of the console is any of these; so one of them came from a text. */
const FOREIGN =
  'main img, iframe, object, embed, script:not([src]), link[href*="//evil"], form[action], [onerror], [onload], [onmouseover]'
const DAY_MS = 86_400_000
const LISTS = ['/', '/dlq', '/jobs', '/held', '/operations', '/queues', '/workers', '/audit', '/settings', '/archive']
const HOOK = 'https://93.184.216.34/dead'
const fingerprintOf = (n: number) => `${n}`.repeat(32)
/** Where links lead that lead elsewhere, or run something. */
const astray = (url: string) => `[...document.links].map((it) => it.href).filter((it) => !it.startsWith('${url}/'))`

describeConsole('text of users', ({ serve, open, after, given, client, store, complaints }) => {
  const BASE = { startedAt: null, attempt: 0, generation: 0, leaseId: null }

  /** A job that has it wherever a user could have written something. */
  const jobOf = (text: string, seed: Parameters<typeof given.job>[0] = {}) =>
    given.job({
      ...{ state: 'archived', queue: text, kind: text, tags: [text], cause: text, dlqReason: text, uniqueKey: text },
      ...{ errorClass: text, errorMessage: text, attempt: 1, payload: { [text]: text }, metadata: { [text]: text } },
      history: [
        {
          ...{ ...BASE, at: new Date(), type: 'error', worker: text, name: text, message: text, truncated: false },
          ...{ stack: `${text}\n    at ${text} (/srv/${text}.ts:1:1)`, code: text },
          cause: [{ name: text, message: text, stack: text, code: text }],
        },
        { ...BASE, at: new Date(), type: 'killed', worker: null, by: text, why: text, reason: text },
      ] as unknown as readonly HistoryEntry[],
      ...seed,
    })

  /** Everything else that has a name, a note or a reason. @returns the id of a job in the archive. */
  const aroundIt = async (text: string, id: string, n: number) => {
    const fingerprint = fingerprintOf(n)
    await client.dlq.note(id, text, { actor: text, reason: text })
    await client.dlq.resolve(id, { link: text, reason: text, actor: text })
    await client.queues.pause(text, { reason: text, actor: text })
    await client.tokens.create({ name: text, role: 'viewer' })
    // Of what does not happen here, so that nothing is sent.
    await client.webhooks.create({ url: HOOK, description: text, queues: [text], types: ['evicted'] })
    await given.worker({ name: text, host: text, version: text, queues: [text], kinds: [text] })
    await given.job({ state: 'quarantined', queue: text, kind: text, heldReason: text, fingerprint })
    await given.job({ state: 'undecodable', queue: text, kind: text, heldReason: text })
    await client.dlq.retryMany({ queue: text }, { dryRun: true, actor: text, reason: text })
    await client.queues.set(text, { coldArchive: true }, { reason: text })
    const old = new Date(Date.now() - 31 * DAY_MS)
    const archived = await jobOf(text, { dlqAt: old, retainFrom: old })
    await store.retain(1_000)
    return archived.id
  }

  const expectOnlyText = async (page: Page, url: string, what: string) => {
    const found = await page.evaluate<string[]>(
      `[...document.querySelectorAll(${JSON.stringify(FOREIGN)})].map((it) => it.outerHTML.slice(0, 200))`,
    )
    expect(found, what).toEqual([])
    expect(await page.evaluate(astray(url)), what).toEqual([])
    expect(await page.evaluate('window.ran'), what).toBeUndefined()
  }

  /** A page that fails where it loads anything from elsewhere, or leads there. */
  const start = async () => {
    const url = await mounted({ serve, after }, '/ops/queues')
    const page = await open('about:blank')
    const away: string[] = []
    page.on('request', (it) => !it.url().startsWith(url) && away.push(it.url()))
    page.on('dialog', (it) => away.push(`dialog ${it.message()}`))
    const look = async (path: string) => {
      await page.goto(`${url}${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('[role="status"][aria-label^="Loading"]').first().waitFor({ state: 'detached' })
      await expectOnlyText(page, url, path)
    }
    const end = () => {
      expect(away).toEqual([])
      // What has such a name and does not exist is a 404, which the browser logs; anything else is of the text.
      expect(complaints().filter((it) => !it.includes('404'))).toEqual([])
    }
    return { url, page, look, end }
  }

  it('is text in every list, all of it side by side', { timeout: 120_000 }, async () => {
    for (const [n, text] of Object.values(CORPUS).entries()) await aroundIt(text, (await jobOf(text)).id, n)
    const { page, look, end } = await start()

    for (const path of LISTS) await look(path)

    // It was there to be seen: the last list is the archive.
    await page.getByRole('table', { name: 'Archived jobs' }).getByText('window.ran').first().waitFor()
    end()
  })

  it.each(Object.entries(CORPUS))('is text on every page of its own: %s', { timeout: 180_000 }, async (_, text) => {
    const { id } = await jobOf(text)
    await jobOf(text)
    const archived = await aroundIt(text, id, 0)
    const { url, page, look, end } = await start()
    const named = encodeURIComponent(text)
    const { items } = await client.operations.list({ limit: 1 })

    for (const path of [
      ...[`/jobs/${id}`, `/held/${fingerprintOf(0)}`, `/operations/${items[0]?.id}`, `/queues/${named}`],
      `/archive?job=${archived}`,
      `/dlq?queue=${named}&kind=${named}&tag=${named}&reason=${named}&cause=${named}&error=${named}`,
      ...[`/jobs?queue=${named}&kind=${named}&q=${named}`, `/${named}`, `/dlq/${named}`, `/held/${named}`],
      `/dlq/${id}`,
    ])
      await look(path)
    await page.getByRole('button', { name: 'Show the payload' }).click()
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor()
    await expectOnlyText(page, url, 'payload')
    await page.keyboard.press('r')
    await page.getByRole('dialog').getByText('Exactly 1 row as of now').waitFor()
    await expectOnlyText(page, url, 'dialog')
    // A filter comes from the address, and so from whoever has sent it.
    await look(`/dlq?queue=${named}`)
    await page
      .getByRole('checkbox', { name: /^Select dead letter/ })
      .first()
      .check()
    await page.getByRole('button', { name: 'Select all 2' }).click()
    await page.getByRole('region', { name: 'Selection' }).getByText('All 2 dead letters that match').waitFor()
    await page.keyboard.press('r')
    await page.getByRole('dialog').getByText('Exactly 2 rows as of now').waitFor()
    await expectOnlyText(page, url, 'dialog of everything that matches')

    end()
  })

  it('shows what draws nothing by its code, so that two names that look alike are told apart', async () => {
    const { id } = await jobOf(CORPUS['turned and unseen'] as string)
    const { url } = await serve()

    const page = await open(`${url}/dlq`)
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: id, exact: true }) })
    await row.waitFor()

    for (const code of ['U+202E', 'U+2066', 'U+200B', 'U+00AD', 'U+FEFF'])
      expect(await row.textContent()).toContain(code)
  })
})
