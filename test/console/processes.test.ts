import { expect, it } from 'vitest'
import { commandLine } from '../cli/spillway.js'
import { describeConsole } from './browser.js'
import { incident } from './incident.js'

describeConsole('the console of a real process', ({ open, after, given, client, url }) => {
  it('is there with `spillway serve`, and shows what lies in its database', async () => {
    await incident(given, client)
    const running = commandLine(url).start('serve', '--port', '0', '--json')
    after(() => {
      running.kill('SIGTERM')
      return running.done
    })
    const at = JSON.parse(await running.line(/"url"/)) as { url: string }

    const page = await open(`${at.url}/dlq?queue=email`)
    await page
      .getByRole('row', { name: /recipient address rejected/ })
      .first()
      .waitFor()

    expect(await page.title()).toBe('Dead letters · Spillway')
  })

  it('is there with `spillway dev`, where a broken receiver makes dead letters of its own', async () => {
    const running = commandLine(url).start('dev', '--port', '0')
    after(() => {
      running.kill('SIGINT')
      return running.done
    })
    const said = await running.note(/the console is at \S+,/)
    const at = /the console is at (\S+),/.exec(said)?.[1] as string

    const page = await open(`${at}/dlq`)
    await page
      .getByRole('row', { name: /the receiver answered|endpoint gone/ })
      .first()
      .waitFor()

    expect(await page.title()).toBe('Dead letters · Spillway')
  })
})
