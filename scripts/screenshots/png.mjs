// Pictures of screens as small PNGs, with nothing but zlib: few colours, so a palette; what does not fit into 256 takes
// the nearest that does, which nobody sees in the edges of letters.
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const MOST_COLOURS = 256
const MOST_UNLIKE = 200
/** The square of how far apart two colours are that nobody takes for each other. */
const UNLIKE = 28 ** 2

/** The same picture in fewer bytes. Takes what Chromium writes: 8 bits, RGB or RGBA, not interlaced. */
export function smaller(png) {
  const { width, height, pixels } = decode(png)
  const { palette, indexOf } = paletteOf(pixels)
  const lines = Buffer.alloc(height * (width + 1))
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) lines[y * (width + 1) + 1 + x] = indexOf.get(pixels[y * width + x])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 3, 0, 0, 0], 8)
  const colours = Buffer.from(palette.flatMap((it) => [it >> 16, (it >> 8) & 255, it & 255]))
  return Buffer.concat([
    ...[SIGNATURE, chunk('IHDR', head), chunk('PLTE', colours)],
    ...[chunk('IDAT', deflateSync(lines, { level: 9, memLevel: 9 })), chunk('IEND', Buffer.alloc(0))],
  ])
}

/** Pixels as numbers 0xrrggbb; a screen has no transparent ones. */
function decode(png) {
  const width = png.readUInt32BE(16)
  const height = png.readUInt32BE(20)
  const [depth, type, , , interlaced] = png.subarray(24, 29)
  if (depth !== 8 || (type !== 2 && type !== 6) || interlaced !== 0)
    throw new Error(`a PNG of type ${type} is not read`)
  const step = type === 6 ? 4 : 3
  const raw = unfiltered(inflateSync(Buffer.concat(dataOf(png))), width * step, height, step)
  const pixels = new Uint32Array(width * height)
  for (let n = 0; n < pixels.length; n++) {
    pixels[n] = (raw[n * step] << 16) | (raw[n * step + 1] << 8) | raw[n * step + 2]
  }
  return { width, height, pixels }
}

function dataOf(png) {
  const parts = []
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  return parts
}

/** Undoes the filter that each line names in its first byte. */
function unfiltered(lines, size, height, step) {
  const out = Buffer.alloc(size * height)
  for (let y = 0; y < height; y++) {
    const filter = lines[y * (size + 1)]
    for (let x = 0; x < size; x++) {
      const at = y * size + x
      const left = x < step ? 0 : out[at - step]
      const above = y === 0 ? 0 : out[at - size]
      const corner = x < step || y === 0 ? 0 : out[at - size - step]
      out[at] = lines[y * (size + 1) + 1 + x] + guess(filter, left, above, corner)
    }
  }
  return out
}

function guess(filter, left, above, corner) {
  if (filter === 1) return left
  if (filter === 2) return above
  if (filter === 3) return (left + above) >> 1
  if (filter !== 4) return 0
  const toLeft = Math.abs(above - corner)
  const toAbove = Math.abs(left - corner)
  const toCorner = Math.abs(left + above - 2 * corner)
  if (toLeft <= toAbove && toLeft <= toCorner) return left
  return toAbove <= toCorner ? above : corner
}

/** Colours that are unlike each other first, however rare, then the most frequent; and which of them stands for each. */
function paletteOf(pixels) {
  const counts = new Map()
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const byCount = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour)
  const palette = []
  for (const colour of byCount.length > MOST_COLOURS ? byCount : []) {
    if (palette.length < MOST_UNLIKE && palette.every((it) => distance(it, colour) > UNLIKE)) palette.push(colour)
  }
  const taken = new Set(palette)
  palette.push(...byCount.filter((it) => !taken.has(it)).slice(0, MOST_COLOURS - palette.length))
  const indexOf = new Map(palette.map((colour, n) => [colour, n]))
  for (const colour of byCount) if (!indexOf.has(colour)) indexOf.set(colour, nearest(palette, colour))
  return { palette, indexOf }
}

function nearest(palette, colour) {
  let best = 0
  for (let n = 1; n < palette.length; n++) if (distance(palette[n], colour) < distance(palette[best], colour)) best = n
  return best
}

function distance(one, other) {
  const red = (one >> 16) - (other >> 16)
  const green = ((one >> 8) & 255) - ((other >> 8) & 255)
  const blue = (one & 255) - (other & 255)
  return red * red + green * green + blue * blue
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const whole = Buffer.alloc(body.length + 8)
  whole.writeUInt32BE(data.length, 0)
  body.copy(whole, 4)
  whole.writeUInt32BE(crc32(body), body.length + 4)
  return whole
}
