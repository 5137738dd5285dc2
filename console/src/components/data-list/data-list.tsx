import { Checkbox } from '@mantine/core'
import { type ColumnDef, type RowData, tableFeatures, useTable } from '@tanstack/react-table'
import { measureElement, useWindowVirtualizer } from '@tanstack/react-virtual'
import { type MouseEvent, type ReactNode, type RefObject, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { type ListKey, useListKeys } from './list-keys.js'
import type { Selection } from './selection.js'
import './data-list.css'

export interface Column<Row extends RowData> {
  readonly id: string
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  /** A width of CSS; the others share what is left. */
  readonly width?: string
  readonly align?: 'end'
  /** On a phone a row is a card: its title, a line with its label, or not there. Default: a line. */
  readonly onPhone?: 'title' | 'line' | 'hidden'
}

interface DataListProps<Row extends RowData> {
  /** What it lists, for whoever does not see it. */
  readonly label: string
  readonly rows: readonly Row[]
  readonly rowId: (row: Row) => string
  /** A row in words, for its checkbox: `dead letter 42`. */
  readonly rowName?: (row: Row) => string
  readonly columns: readonly Column<Row>[]
  readonly selection?: Selection | undefined
  /** Enter, or a click beside its links. */
  readonly onOpen?: ((row: Row) => void) | undefined
  /** Keys of the list besides j, k, x and Enter; they act on the row that has the focus. */
  readonly keys?: readonly ListKey<Row>[] | undefined
  /** Whether j, k and the others are this list's; of several on a screen only one can have them. Default: true. */
  readonly hasKeys?: boolean
}

const features = tableFeatures({})
const NONE: readonly never[] = []
/** Until the first row is there, which tells what the others will be. */
const ROW_HEIGHT = 40
const OVERSCAN = 12

/**
 * Rows of anything, drawn only where they can be seen: 1,000 of them cost what 30 cost. `j` and `k` go through them, `x`
 * chooses one, Enter opens it. On a phone each row is a card.
 */
export function DataList<Row extends RowData>(props: DataListProps<Row>) {
  const { label, rows, rowId, rowName = rowId, columns, selection, onOpen, keys = [], hasKeys = true } = props
  const table = useTable({
    features,
    columns: useMemo(() => columns.map(definitionOf), [columns]),
    data: rows as Row[],
    getRowId: rowId,
  })
  const body = useRef<HTMLTableSectionElement>(null)
  const scrollMargin = useTop(body)
  const height = useRef<number>(undefined)
  const virtualizer = useWindowVirtualizer({
    ...{ count: rows.length, overscan: OVERSCAN, scrollMargin },
    // Rows that turned out taller than they were taken for would move what stands below them, as somebody clicks on it.
    estimateSize: () => height.current ?? ROW_HEIGHT,
    measureElement: (row, entry, instance) => {
      const measured = measureElement(row, entry, instance)
      height.current ??= measured
      return measured
    },
    // The header of the page and the bar of what is selected lie over what is scrolled to.
    scrollPaddingStart: 64,
    scrollPaddingEnd: 120,
    getItemKey: (n) => rowId(rows[n] as Row),
  })
  const active = useListKeys({
    rows: hasKeys ? rows : NONE,
    rowId,
    selection,
    keys,
    scrollTo: virtualizer.scrollToIndex,
    body,
  })
  const seen = virtualizer.getVirtualItems()
  const above = (seen[0]?.start ?? scrollMargin) - scrollMargin
  const below = virtualizer.getTotalSize() - ((seen.at(-1)?.end ?? scrollMargin) - scrollMargin)
  const model = table.getRowModel().rows
  const ids = rows.map(rowId)
  const isChosen = (id: string) => selection?.has(id) ?? false
  return (
    <table className="data-list" aria-label={label} aria-rowcount={rows.length + 1} role="table">
      <thead role="rowgroup">
        {table.getHeaderGroups().map((group) => (
          <tr key={group.id} role="row" aria-rowindex={1}>
            {selection !== undefined && (
              <th className="data-list-choose" role="columnheader">
                <Checkbox
                  size="xs"
                  aria-label="Select all rows of this page"
                  checked={ids.length > 0 && ids.every(isChosen)}
                  indeterminate={!ids.every(isChosen) && ids.some(isChosen)}
                  onChange={() => (selection.isWhole ? selection.clear() : selection.togglePage(ids))}
                />
              </th>
            )}
            {group.headers.map((header, n) => (
              <th
                key={header.id}
                role="columnheader"
                data-align={columns[n]?.align}
                style={{ width: columns[n]?.width }}
              >
                {columns[n]?.header}
              </th>
            ))}
          </tr>
        ))}
      </thead>
      <tbody ref={body} role="rowgroup">
        <Gap height={above} />
        {seen.map(({ index, key }) => {
          const row = rows[index] as Row
          const id = rowId(row)
          return (
            <tr
              key={key}
              ref={virtualizer.measureElement}
              role="row"
              data-index={index}
              aria-rowindex={index + 2}
              aria-selected={selection === undefined ? undefined : isChosen(id)}
              tabIndex={index === active.index ? 0 : -1}
              data-opens={onOpen !== undefined || undefined}
              onFocus={() => active.set(index)}
              onKeyDown={(event) => event.key === 'Enter' && event.target === event.currentTarget && onOpen?.(row)}
              onClick={(event) => !isOnControl(event) && onOpen?.(row)}
            >
              {selection !== undefined && (
                <td className="data-list-choose" role="cell">
                  <Checkbox
                    size="xs"
                    tabIndex={-1}
                    aria-label={`Select ${rowName(row)}`}
                    checked={isChosen(id)}
                    disabled={selection.isWhole}
                    onChange={() => selection.toggle(id)}
                  />
                </td>
              )}
              {model[index]?.getAllCells().map((cell, n) => (
                <td
                  key={cell.id}
                  role="cell"
                  data-label={columns[n]?.header}
                  data-align={columns[n]?.align}
                  data-phone={columns[n]?.onPhone ?? 'line'}
                >
                  <div className="data-list-cell">{columns[n]?.cell(row)}</div>
                </td>
              ))}
            </tr>
          )
        })}
        <Gap height={below} />
      </tbody>
    </table>
  )
}

function definitionOf<Row extends RowData>({ id, header, cell }: Column<Row>): ColumnDef<typeof features, Row> {
  return { id, header, cell: ({ row }) => cell(row.original) }
}

/** Room for the rows that are not drawn. */
function Gap({ height }: { height: number }) {
  if (height <= 0) return null
  return (
    <tr aria-hidden="true" className="data-list-gap">
      <td style={{ height }} />
    </tr>
  )
}

/** How far down the document an element begins. */
function useTop(element: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const measure = () => {
      const box = element.current?.getBoundingClientRect()
      if (box !== undefined) setTop(Math.round(box.top + window.scrollY))
    }
    measure()
    // What stands above it may come later and push it down.
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [element])
  return top
}

function isOnControl({ target }: MouseEvent): boolean {
  const isMarking = (getSelection()?.toString() ?? '') !== ''
  return (
    isMarking || (target instanceof Element && target.closest('a, button, input, label, .data-list-choose') !== null)
  )
}
