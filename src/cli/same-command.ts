/** What every command takes to find its store; a command that is suggested takes it along. */
const PLACE: ReadonlySet<string> = new Set(['--database-url', '--schema', '--api', '--token'])

/**
 * The command that was typed, to be pasted again: without the options named in `without` (true: they take a value), and
 * with `added` at its end. A password in a url and a token are not printed again; the variables that every command reads
 * stand for them.
 */
export function sameCommand(
  argv: readonly string[],
  without: Readonly<Record<string, boolean>>,
  ...added: string[]
): string {
  const words: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!
    const [flag = '', value] = flagOf(word)
    if (Object.hasOwn(without, flag)) {
      if (without[flag] && value === undefined) i++
    } else if (PLACE.has(flag)) words.push(flag, placeWord(flag, value ?? argv[++i] ?? ''))
    else words.push(quoted(word))
  }
  return ['spillway', ...words, ...added.map(quoted)].join(' ')
}

/** Another command on the same store. */
export function otherCommand(argv: readonly string[], ...command: string[]): string {
  const place: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const [flag = '', value] = flagOf(argv[i]!)
    if (!PLACE.has(flag)) continue
    const given = value ?? argv[++i] ?? ''
    place.push(flag, placeWord(flag, given))
  }
  return ['spillway', ...command.map(quoted), ...place].join(' ')
}

function flagOf(word: string): [flag: string, value?: string] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)]
}

function placeWord(flag: string, value: string): string {
  if (flag === '--token') return '"$SPILLWAY_TOKEN"'
  return flag === '--database-url' ? urlWord(value) : quoted(value)
}

function urlWord(url: string): string {
  return /\/\/[^/@]*:[^/@]*@/.test(url) ? '"$DATABASE_URL"' : quoted(url)
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
