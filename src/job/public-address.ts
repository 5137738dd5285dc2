/** Networks of IPv4 that are not the public internet, each with the bits of its prefix. */
const NOT_PUBLIC_V4: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, metadata of clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // relays of 6to4
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
]

/** Inside 2000::/3, the part of IPv6 that is given out at all. */
const NOT_PUBLIC_V6: readonly (readonly [network: string, bits: number])[] = [
  ['2001::', 23], // protocol assignments; Teredo, which carries an IPv4 address
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which carries an IPv4 address
  ['3fff::', 20], // documentation
]

/**
 * Whether an address is one of the public internet. Everything else is not: private, loopback, link-local, carrier-grade
 * NAT, multicast, reserved and documentation networks, and IPv6 addresses that carry an IPv4 address (mapped, NAT64,
 * 6to4, Teredo). What is no address is not public either.
 */
export function isPublicAddress(address: string): boolean {
  const v4 = parseV4(address)
  if (v4 !== undefined)
    return !NOT_PUBLIC_V4.some(([network, bits]) => sameNetwork(v4, parseV4(network) ?? 0n, bits, 32))
  const v6 = parseV6(address)
  if (v6 === undefined) return false
  if (!sameNetwork(v6, parseV6('2000::') ?? 0n, 3, 128)) return false
  return !NOT_PUBLIC_V6.some(([network, bits]) => sameNetwork(v6, parseV6(network) ?? 0n, bits, 128))
}

function sameNetwork(a: bigint, b: bigint, bits: number, width: number): boolean {
  const rest = BigInt(width - bits)
  return a >> rest === b >> rest
}

function parseV4(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255))
    return undefined
  return parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)
}

function parseV6(text: string): bigint | undefined {
  const [bare = ''] = text.split('%')
  if (!bare.includes(':')) return undefined
  const halves = withoutDots(bare)?.split('::')
  if (halves === undefined || halves.length > 2) return undefined
  const [left = [], right = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - left.length - right.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}

/** `::ffff:1.2.3.4` with its last part as two groups. */
function withoutDots(text: string): string | undefined {
  if (!text.includes('.')) return text
  const cut = text.lastIndexOf(':') + 1
  const v4 = parseV4(text.slice(cut))
  return v4 === undefined
    ? undefined
    : `${text.slice(0, cut)}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`
}
