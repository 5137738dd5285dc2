import { json } from '@codemirror/lang-json'
import { unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { drawn } from './theme.js'

interface JsonDiffProps {
  readonly label: string
  readonly before: string
  readonly after: string
}

/** What differs between two texts, the old lines above the new ones; what is the same is folded. */
export default function JsonDiff({ label, before, after }: JsonDiffProps) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const view = new EditorView({
      parent: place.current as HTMLDivElement,
      state: EditorState.create({
        doc: after,
        extensions: [
          ...[drawn, lineNumbers(), json(), EditorView.lineWrapping],
          ...[EditorState.readOnly.of(true), EditorView.editable.of(false)],
          unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: { margin: 3, minSize: 6 } }),
          EditorView.contentAttributes.of({ 'aria-label': label, role: 'region', tabindex: '0' }),
        ],
      }),
    })
    return () => view.destroy()
  }, [label, before, after])
  return <div ref={place} />
}
