import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { HistoryEntry } from '../../src/job/history.js'
import { describeConsole } from './browser.js'

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
  'main img, iframe, object, embed, script:not([src]), link[href*="//evil"], a[href*="//evil"], a[href^="javascript" i], form[action], [onerror], [onload], [onmouseover]'

describeConsole('text of users', ({ serve, open, given, client, complaints }) => {
  const BASE = { startedAt: null, attempt: 0, generation: 0, leaseId: null }

  /** A job that has it wherever a user could have written something. */
  const jobOf = (text: string) =>
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
    })

  /** Everything else that has a name, a note or a reason. */
  const aroundIt = async (text: string, id: string) => {
    await client.dlq.note(id, text, { actor: text, reason: text })
    await client.dlq.resolve(id, { link: text, reason: text, actor: text })
    await client.queues.pause(text, { reason: text, actor: text })
    await client.tokens.create({ name: text, role: 'viewer' })
    await given.worker({ name: text, host: text, version: text, queues: [text], kinds: [text] })
    await given.job({ state: 'quarantined', queue: text, kind: text, heldReason: text, fingerprint: 'cd'.repeat(16) })
    await given.job({ state: 'undecodable', queue: text, kind: text, heldReason: text })
    await client.dlq.retryMany({ queue: text }, { dryRun: true, actor: text, reason: text })
  }

  const expectOnlyText = async (page: Page, what: string) => {
    const found = await page.evaluate<string[]>(
      `[...document.querySelectorAll(${JSON.stringify(FOREIGN)})].map((it) => it.outerHTML.slice(0, 200))`,
    )
    expect(found, what).toEqual([])
    expect(await page.evaluate('window.ran'), what).toBeUndefined()
  }

  it.each(Object.entries(CORPUS))('is text on every screen: %s', { timeout: 180_000 }, async (_, text) => {
    const { id } = await jobOf(text)
    await aroundIt(text, id)
    const { url } = await serve()
    const page = await open('about:blank')
    const away: string[] = []
    page.on('request', (it) => !it.url().startsWith(url) && away.push(it.url()))
    page.on('dialog', (it) => away.push(`dialog ${it.message()}`))
    const named = encodeURIComponent(text)
    const { items } = await client.operations.list({ limit: 1 })

    for (const path of [
      ...['/', '/dlq', `/dlq/${id}`, '/jobs', `/jobs/${id}`, '/held', `/held/${'cd'.repeat(16)}`, '/operations'],
      ...[`/operations/${items[0]?.id}`, '/queues', `/queues/${named}`, '/workers', '/audit', '/archive', '/settings'],
      `/dlq?queue=${named}&kind=${named}&tag=${named}&reason=${named}&cause=${named}&error=${named}`,
      ...[`/jobs?queue=${named}&kind=${named}&q=${named}`, `/${named}`, `/dlq/${named}`, `/held/${named}`],
    ]) {
      await page.goto(`${url}${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('[role="status"][aria-label^="Loading"]').first().waitFor({ state: 'detached' })
      await expectOnlyText(page, path)
    }
    await page.goto(`${url}/dlq/${id}`)
    await page.getByRole('button', { name: 'Show the payload' }).click()
    await page.getByRole('button', { name: 'Edit', exact: true }).waitFor()
    await expectOnlyText(page, 'payload')
    await page.keyboard.press('r')
    await page.getByRole('dialog').getByText('Exactly 1 row as of now').waitFor()
    await expectOnlyText(page, 'dialog')

    expect(away).toEqual([])
    // What has such a name and does not exist is a 404, which the browser logs; anything else is of the text.
    expect(complaints().filter((it) => !it.includes('404'))).toEqual([])
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
