import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { bracketMatching, indentOnInput } from '@codemirror/language'
import { linter, lintGutter, lintKeymap } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { useEffect, useRef } from 'react'
import { drawn } from './theme.js'

interface JsonEditorProps {
  readonly label: string
  /** What it begins with; what it holds is its own afterwards. */
  readonly text: string
  readonly onChange: (text: string) => void
}

/** An editor of JSON that marks what is none. Tab leaves it, as it leaves every field. Loaded where it is needed. */
export default function JsonEditor({ label, text, onChange }: JsonEditorProps) {
  const place = useRef<HTMLDivElement>(null)
  const changed = useRef(onChange)
  changed.current = onChange
  const first = useRef(text)
  useEffect(() => {
    const view = new EditorView({
      parent: place.current as HTMLDivElement,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          ...[drawn, lineNumbers(), history(), drawSelection(), indentOnInput(), bracketMatching(), json()],
          ...[linter(jsonParseLinter()), lintGutter(), EditorView.lineWrapping],
          keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return
            first.current = update.state.doc.toString()
            changed.current(first.current)
          }),
        ],
      }),
    })
    return () => view.destroy()
  }, [label])
  return <div ref={place} />
}
