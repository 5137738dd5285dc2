import { type Row, type Settings, short } from './rows.js'

const HEAD = ['row', 'value', 'min … max', 'unit', 'bar', 'aim', 'met', 'settings']

/** The report as lines of text, in columns. */
export function table(rows: readonly Row[]): string {
  const lines = [HEAD, ...rows.map(cells)]
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const text = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return [text[0], '-'.repeat(Math.max(...text.map((it) => it.length))), ...text.slice(1)].join('\n')
}

function cells(row: Row): string[] {
  return [
    row.name,
    short(row.value),
    row.min === row.max ? '' : `${short(row.min)} … ${short(row.max)}`,
    row.unit,
    row.held,
    row.aim === null ? '' : short(row.aim),
    row.met === null ? '' : row.met ? 'yes' : 'NO',
    describe(row.settings),
  ]
}

export function describe(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}
