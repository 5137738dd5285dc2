import Table from 'cli-table3'
import picocolors from 'picocolors'
import { toWire } from '../client/wire.js'
import { json, oneLine, relative } from './shown.js'

/** A cell: text, or nothing to show. */
export type Cell = string | number | null | undefined

type Colors = ReturnType<typeof picocolors.createColors>

/**
 * Where a command says what it found: tables and sentences for people, or one JSON document. On a terminal times are
 * relative and a few words coloured; in a pipe everything is plain and times are ISO text.
 */
export class Output {
  readonly isTerminal = process.stdout.isTTY === true
  readonly colors: Colors

  constructor(readonly isJson: boolean) {
    const noColor = process.env.NO_COLOR !== undefined && process.env.NO_COLOR !== ''
    this.colors = picocolors.createColors(this.isTerminal && !noColor && process.env.TERM !== 'dumb')
  }

  /** The one JSON document of a run, snake_case. Indented on a terminal. */
  document(value: unknown): void {
    process.stdout.write(`${json(toWire(value), this.isTerminal ? 2 : 0)}\n`)
  }

  /** One document of a stream. */
  record(value: unknown): void {
    process.stdout.write(`${json(toWire(value))}\n`)
  }

  line(text: string): void {
    process.stdout.write(`${text}\n`)
  }

  /** For the person, not for the pipe: stderr. */
  note(text: string): void {
    process.stderr.write(`spillway: ${oneLine(text)}\n`)
  }

  /** Rows under a head, or `empty` when there are none. */
  table(head: readonly string[], rows: readonly (readonly Cell[])[], empty: string): void {
    if (rows.length === 0) {
      this.line(this.colors.dim(empty))
      return
    }
    const table = new Table({ ...BARE, head: head.map((it) => this.colors.bold(it)) })
    for (const row of rows) table.push(row.map(shown))
    this.line(trimmed(table.toString()))
  }

  /** Names and values, one a line; those without a value are left out. */
  pairs(entries: readonly (readonly [name: string, value: Cell])[]): void {
    const there = entries.filter(([, value]) => value !== null && value !== undefined && value !== '')
    const width = Math.max(...there.map(([name]) => name.length))
    for (const [name, value] of there) this.line(`${this.colors.dim(name.padEnd(width))}  ${shown(value)}`)
  }

  /** Relative to now on a terminal, else ISO text. */
  time(date: Date | null): string {
    if (date === null) return ''
    return this.isTerminal ? relative(date, Date.now()) : date.toISOString()
  }

  /** Both, where there is room. */
  longTime(date: Date | null): string {
    if (date === null) return ''
    const iso = date.toISOString()
    return this.isTerminal ? `${relative(date, Date.now())} ${this.colors.dim(`(${iso})`)}` : iso
  }

  /** Characters a text may take in a table that has `used` for the rest. In a pipe there is no edge. */
  room(used: number): number {
    return this.isTerminal ? Math.max(20, (process.stdout.columns ?? 100) - used) : 200
  }
}

const NONE = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

/** Without lines; cli-table3 would also colour a pipe unless told not to. */
const BARE = { chars: NONE, style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true } }

function shown(cell: Cell): string {
  return cell === null || cell === undefined ? '' : String(cell)
}

function trimmed(text: string): string {
  return text.replace(/[ \t]+$/gm, '')
}
