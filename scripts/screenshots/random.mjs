/** Numbers and texts that look random and are the same with every run (mulberry32). */
export function randomFrom(seed) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const of = (values) => values[Math.floor(next() * values.length)]
  const text = (alphabet, length) => Array.from({ length }, () => of(alphabet)).join('')
  return {
    next,
    of,
    letters: (length) => text([...'abcdefghjkmnpqrstuvwxyz23456789'], length),
    digits: (length) => text([...'123456789'], length),
    price: () => (5 + next() * 190).toFixed(2),
  }
}
