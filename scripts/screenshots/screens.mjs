// Which pictures there are: every screen by its address, and what opens over one by how it is opened.

/** The screens, by the names of their pictures. */
export function screensOf({ story, cause, fingerprint, operation }) {
  const ofCause = `/dlq?${new URLSearchParams(cause)}`
  return {
    overview: '/',
    'dead-letters': '/dlq',
    cause: ofCause,
    'dead-letter': `/dlq/${story}`,
    jobs: '/jobs',
    job: `/jobs/${story}`,
    held: '/held',
    quarantined: `/held/${fingerprint}`,
    operations: '/operations',
    operation: `/operations/${operation}`,
    queues: '/queues',
    queue: '/queues/billing',
    workers: '/workers',
    audit: '/audit',
    archive: '/archive',
    settings: '/settings',
  }
}

/** What is shown over the screen `at`; `isPhone`: some of it is not there on a phone. */
export function dialogsOf({ story }) {
  const button = (page, name) => page.getByRole('button', { name, exact: true }).first()
  const counted = (page) => page.getByText(/^Exactly/).waitFor()
  return {
    retry: {
      at: 'cause',
      async open(page) {
        await button(page, 'Retry …').click()
        await counted(page)
        await page.getByText('Pace', { exact: true }).click()
        await page.getByLabel('Rows a second').fill('50')
        await page.getByLabel('Canaries').fill('10')
        await page.getByLabel('Reason').fill('the gateway answers again')
        await counted(page)
      },
    },
    purge: {
      at: 'cause',
      async open(page) {
        await button(page, 'Purge …').click()
        await counted(page)
        await page.getByLabel(/^Type/).fill('purge')
      },
    },
    selected: {
      at: 'cause',
      async open(page) {
        const boxes = page.getByRole('checkbox', { name: /^Select dead letter/ })
        for (const n of [0, 1, 2]) await boxes.nth(n).check()
        await page.getByText(/selected$/).waitFor()
        await page.evaluate('scrollTo(0, 0)')
      },
    },
    payload: {
      at: 'dead-letter',
      async open(page) {
        await button(page, 'Show the payload').click()
        await button(page, 'Edit').click()
        await page.getByRole('textbox', { name: 'Payload as JSON' }).waitFor()
      },
    },
    'payload-change': {
      at: 'dead-letter',
      async open(page) {
        await button(page, 'Show the payload').click()
        await button(page, 'Edit').waitFor()
        const shown = page.getByRole('region', { name: 'Payload', exact: true }).last()
        const [before] = await shown.allInnerTexts()
        const text = before.replace('"129.90"', '"12990"')
        await button(page, 'Edit').click()
        await page.getByRole('textbox', { name: 'Payload as JSON' }).fill(text)
        await button(page, 'Review the change …').click()
        await page.getByRole('region', { name: 'What changes in the payload' }).waitFor()
        await page.getByLabel('Reason').fill('the amount is in cents')
      },
    },
    triage: {
      at: 'cause',
      async open(page) {
        await button(page, 'Triage').click()
        await page.getByRole('menuitem', { name: /^Resolve/ }).click()
        await page.getByRole('dialog').waitFor()
      },
    },
    policy: {
      at: 'queue',
      async open(page) {
        await page.getByRole('textbox', { name: 'Crashes that quarantine' }).fill('5')
        await button(page, 'Save …').click()
        await page.getByRole('dialog').waitFor()
      },
    },
    webhook: {
      at: 'settings',
      async open(page) {
        await button(page, 'New webhook …').click()
        await page.getByRole('dialog').waitFor()
        await page.getByLabel('Url').fill('https://hooks.example.com/spillway')
        await page.getByLabel('Told of').fill('died\nquarantined')
      },
    },
    'webhook-edit': {
      at: 'settings',
      async open(page) {
        await button(page, 'Edit https://chat.example.com/hooks/ops').click()
        await page.getByRole('dialog').waitFor()
        await page.getByLabel('Queues').fill('billing\nmail')
        await page.getByLabel('Digest', { exact: true }).fill('10m')
        await page.getByText('Digest: 5m → 10m').waitFor()
      },
    },
    ring: {
      at: 'settings',
      async open(page) {
        await button(page, 'Tune ready').click()
        await page.getByRole('dialog').waitFor()
        await page.getByLabel('Rows', { exact: true }).fill('5000')
        await page.getByLabel('Reason').fill('a small disk')
      },
    },
    release: {
      at: 'quarantined',
      async open(page) {
        await button(page, 'Release …').click()
        await page.getByRole('dialog').waitFor()
      },
    },
    beside: { at: `/jobs?state=archived&job=${story}`, isDesktop: true },
    keys: {
      at: 'overview',
      isDesktop: true,
      async open(page) {
        await page.keyboard.press('?')
        await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
      },
    },
    menu: {
      at: 'overview',
      isPhone: true,
      async open(page) {
        await button(page, 'Menu').click()
      },
    },
  }
}
