import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { styleNonce } from '../../place.js'

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent-ink)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: tags.invalid, color: 'var(--bad)' },
])

const look = EditorView.theme({
  '&': { backgroundColor: 'var(--sunken)', color: 'var(--ink)', fontSize: '13px', borderRadius: 'var(--radius)' },
  '&.cm-focused': { outline: '2px solid var(--accent-ink)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', maxHeight: '50vh', overflow: 'auto' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', color: 'var(--ink-2)', border: 'none' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-ground)',
  },
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--accent-ground) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-ground) !important' },
  '.cm-collapsedLines': { background: 'var(--panel) !important', color: 'var(--ink-2) !important' },
  // Its own sign is in few fonts.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"…" !important' },
  '.cm-tooltip': { backgroundColor: 'var(--panel)', color: 'var(--ink)', border: '1px solid var(--line-strong)' },
})

/** How JSON is drawn: by the page's colours, in styles that its policy lets in. */
export const drawn: Extension = [EditorView.cspNonce.of(styleNonce), look, syntaxHighlighting(colours)]
