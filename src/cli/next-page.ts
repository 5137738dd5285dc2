/**
 * The command for the next page: the one that was typed, with the cursor in place. A password in a url is not printed
 * again; the variable that every command reads stands for it.
 */
export function nextPageCommand(argv: readonly string[], cursor: string): string {
  const words: string[] = []
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!
    if (word === '--cursor') i++
    else if (word === '--database-url') words.push(word, urlWord(argv[++i] ?? ''))
    else if (word.startsWith('--database-url='))
      words.push('--database-url', urlWord(word.slice('--database-url='.length)))
    else if (!word.startsWith('--cursor=')) words.push(quoted(word))
  }
  return ['spillway', ...words, '--cursor', quoted(cursor)].join(' ')
}

function urlWord(url: string): string {
  return /\/\/[^/@]*:[^/@]*@/.test(url) ? '"$DATABASE_URL"' : quoted(url)
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
