/** What stands where a secret was. */
const CUT = '[secret]'

/** One look that says whether any shape below can match: each of them contains one of these. Most texts end here. */
const SUSPICIOUS =
  /authorization|cookie|bearer\s|basic\s|:\/\/[^\s/]*@|A[KSGIR][IAPDO]A|\b[srp]k[_-]|whsec_|gh[opsur]_|github_pat|glpat-|\bnpm_|xox[a-z]-|AIza|\bSG\.|hooks\.slack|eyJ|-----BEGIN|passw|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential/i

/**
 * Known shapes of secrets. Linear in any text: a repetition is bounded, or cannot be entered again inside what it
 * has run over.
 */
const SHAPES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b((?:set-)?cookie2?(?:\\?["'])?\s{0,4}[:=]\s{0,4}(?:\\?["'])?)[^\r\n"']+/gi, `$1${CUT}`],
  [
    /\b(authorization(?:\\?["'])?\s{0,4}[:=]\s{0,4}(?:\\?["'])?(?:[a-z][a-z0-9-]{0,20}\s{1,4})?)[^\s"',;\\]+/gi,
    `$1${CUT}`,
  ],
  [/\b((?:bearer|basic)\s{1,4})[a-z0-9._~+/=-]{8,}/gi, `$1${CUT}`],
  [/(:\/\/[^\s:@/?#]{0,200}:)[^\s/]{1,500}@/g, `$1${CUT}@`],
  [/\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{12,20}\b/g, CUT],
  [/\b(?:[srp]k|whsec)_(?:live_|test_)?[A-Za-z0-9]{8,}/g, CUT],
  [/\bsk-[A-Za-z0-9_-]{20,}/g, CUT],
  [/\b(?:gh[opsur]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_[A-Za-z0-9]{20,})/g, CUT],
  [/\bxox[a-z]-[A-Za-z0-9-]{8,}/g, CUT],
  [/\bAIza[\w-]{30,}/g, CUT],
  [/\bSG\.[\w-]{16,}\.[\w-]{16,}/g, CUT],
  [/\bhooks\.slack\.com\/services\/[A-Za-z0-9/]+/g, `hooks.slack.com/services/${CUT}`],
  // Not \b: a hyphen belongs to the token, and would let every "-eyJ" in it start anew.
  [/(?<![\w-])eyJ[\w-]{6,}\.[\w-]{2,}(?:\.[\w-]*)?/g, CUT],
  [
    /((?:passw(?:or)?d|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)(?:\\?["'])?\s{0,4}[:=]\s{0,4})(?:\\?"[^"\r\n]{0,2000}"?|'[^'\r\n]{0,2000}'?|[^\s"',;&)}\]]+)/gi,
    `$1${CUT}`,
  ],
]

const KEY_BEGINS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/
const KEY_ENDS = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----/

/**
 * `text` with the secrets of known shapes cut out and `[secret]` in their place: authorization headers, cookies,
 * passwords in URLs, keys of well-known services, JWTs, private keys, and `password=…`-like pairs.
 *
 * A safety net, not a promise: a secret of an unknown shape stays. Linear in the length of the text, also in the
 * worst case.
 */
export function cutSecrets(text: string): string {
  if (!SUSPICIOUS.test(text)) return text
  let clean = cutPrivateKeys(text)
  for (const [pattern, replacement] of SHAPES) clean = clean.replace(pattern, replacement)
  return clean
}

/** Key blocks go whole; one whose end was cut off takes the rest of the text with it. */
function cutPrivateKeys(text: string): string {
  let clean = ''
  let rest = text
  for (;;) {
    const begin = rest.search(KEY_BEGINS)
    if (begin < 0) return clean + rest
    clean += rest.slice(0, begin) + CUT

    rest = rest.slice(begin)
    const end = KEY_ENDS.exec(rest)
    if (end === null) return clean
    rest = rest.slice(end.index + end[0].length)
  }
}
