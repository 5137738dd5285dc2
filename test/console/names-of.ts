import type { Locator } from 'playwright-core'

interface Button {
  readonly ariaLabel: string | null
  readonly textContent: string
}

/** What buttons are called, in their order. */
export function namesOf(buttons: Locator): Promise<string[]> {
  return buttons.evaluateAll((them) =>
    (them as unknown as Button[]).map(({ ariaLabel, textContent }) => ariaLabel ?? textContent),
  )
}
