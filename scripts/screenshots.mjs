// `npm run screenshots [-- NAME …]`: pictures of every screen of the console and of what opens over it into docs/images, in
// light and dark, as wide as a desk and as a phone: NAME-light, NAME-dark, NAME-phone-light, NAME-phone-dark. One embedded
// database, one server, one browser, and the made-up shop of screenshots/shop.mjs. SPILLWAY_CHROMIUM names a browser.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { startEmbedded } from '../dist/embedded/index.js'
import { listen } from '../dist/http/index.js'
import { Spillway } from '../dist/index.js'
import { smaller } from './screenshots/png.mjs'
import { dialogsOf, screensOf } from './screenshots/screens.mjs'
import { openShop } from './screenshots/shop.mjs'

const to = fileURLToPath(new URL('../docs/images/', import.meta.url))
const only = process.argv.slice(2)
const MOST_BYTES = 150_000
let pictures = 0
let bytes = 0
const SIZES = {
  '': { viewport: { width: 1280, height: 800 }, highest: 1_000 },
  'phone-': { viewport: { width: 390, height: 844 }, highest: 1_500, isMobile: true, hasTouch: true },
}

const dir = mkdtempSync(join(process.getuid?.() === 0 ? '/tmp' : tmpdir(), 'spillway-screenshots-'))
chmodSync(dir, 0o755)
const database = await startEmbedded({ dir })
const spillway = new Spillway({ url: database.url, actor: 'kim' })
await spillway.migrate()
const server = await listen({ spillway, access: { tokens: true }, port: 0 })
const browser = await chromium.launch({
  executablePath: process.env.SPILLWAY_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--hide-scrollbars'],
})
let shop
try {
  shop = await openShop({ url: database.url, spillway })
  const { secret } = await spillway.tokens.create({ name: 'kim', role: 'admin' })
  mkdirSync(to, { recursive: true })
  await shoot(secret)
} finally {
  await browser.close()
  await server.stop()
  await shop?.close()
  await spillway.close()
  await database.release()
  rmSync(dir, { recursive: true, force: true })
}

/** Each picture in every look at once, so that the same time has passed in all of them. */
async function shoot(secret) {
  const looks = []
  for (const [size, { highest, ...options }] of Object.entries(SIZES)) {
    for (const colorScheme of ['light', 'dark'])
      looks.push(await signedIn(`${size}${colorScheme}`, { ...options, colorScheme }, highest, secret))
  }
  const screens = screensOf(shop)
  const dialogs = dialogsOf(shop)
  const all = [
    ...Object.entries(screens).map(([name, path]) => [name, { path }]),
    ...Object.entries(dialogs).map(([name, { at, ...how }]) => [name, { ...how, path: screens[at] ?? at }]),
  ]
  for (const [name, { path, open, isDesktop = false, isPhone = false }] of all) {
    if (isLeftOut(name)) continue
    for (const look of looks) {
      if (look.isPhone ? isDesktop : isPhone) continue
      try {
        await visit(look.page, path)
        await open?.(look.page)
        await save(name, look)
      } catch (error) {
        // The others are still worth having.
        console.error(`no picture ${name}-${look.look}: ${error.message}`)
        process.exitCode = 1
      }
    }
  }
  console.log(`${pictures} pictures, ${Math.round(bytes / 1024)} kB, ${Math.round(performance.now() / 1_000)} s`)
}

async function signedIn(look, options, highest, secret) {
  const inside = await browser.newContext({ ...options, reducedMotion: 'reduce', timezoneId: 'UTC', locale: 'en-GB' })
  inside.setDefaultTimeout(15_000)
  const page = await inside.newPage()
  const own = { look, page, highest, isPhone: options.isMobile === true }
  await page.goto(server.url)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await withoutGutter(page)
  await save('sign-in', own)
  await page.getByLabel(/^Token/).fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  return own
}

function isLeftOut(name) {
  return only.length > 0 && !only.includes(name)
}

async function visit(page, path) {
  await page.goto(`${server.url}${path}`)
  await withoutGutter(page)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.locator('.state-loading').first().waitFor({ state: 'detached' })
  await page.getByRole('status', { name: 'Updates: Live' }).waitFor()
  if (path === '/') await page.locator('canvas').waitFor()
}

/** Scrollbars are hidden here, and so is the room that is kept for them. */
async function withoutGutter(page) {
  await page.evaluate('document.documentElement.style.scrollbarGutter = "auto"')
}

async function save(name, { look, page, highest }) {
  if (isLeftOut(name)) return
  const png = smaller(await picture(page, highest))
  if (png.length > MOST_BYTES) console.warn(`${name}-${look}.png has ${png.length} bytes, more than ${MOST_BYTES}`)
  writeFileSync(join(to, `${name}-${look}.png`), png)
  pictures += 1
  bytes += png.length
}

/** The screen as high as what is on it, within bounds; under a dialog as high as a window. */
async function picture(page, highest) {
  const { width, height } = page.viewportSize()
  const isOpen = (await page.getByRole('dialog').count()) > 0
  const whole = isOpen ? height : await page.evaluate('document.documentElement.scrollHeight')
  await page.setViewportSize({ width, height: Math.min(highest, Math.max(height, whole)) })
  await page.evaluate('Promise.all(document.getAnimations().map((it) => it.finished.catch(() => undefined)))')
  await page.evaluate('new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))')
  const png = await page.screenshot({ animations: 'disabled', scale: 'css' })
  await page.setViewportSize({ width, height })
  return png
}
