/** Something one waits for that may come before, during or never: a ring is kept until somebody waits for it. */
export class Wake {
  private isRung = false
  private waiting: (() => void) | undefined

  ring(): void {
    this.isRung = true
    this.waiting?.()
  }

  /** Resolves at the next ring, at once after one that nobody has waited for, or after `ms`. */
  async next(ms: number): Promise<void> {
    if (!this.isRung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.waiting = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.waiting = undefined
    this.isRung = false
  }
}
