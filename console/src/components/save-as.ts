/** Hands the browser a file to keep. It is made here; nothing is fetched for it. */
export function saveAs(name: string, content: string | Blob, type = 'text/plain'): void {
  const blob = typeof content === 'string' ? new Blob([content], { type }) : content
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
  // The browser reads it after the click is over.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
