import './mark.css'

export type Tone = 'bad' | 'warn' | 'good' | 'busy' | 'quiet'

/** Each tone has a shape of its own, so that nobody needs to tell colours apart. */
const SHAPES: Readonly<Record<Tone, string>> = { bad: '◆', warn: '▲', good: '●', busy: '◐', quiet: '○' }

/** A word about how something stands: said by the word first, then by shape and colour. */
export function Mark({ tone, children, title }: { tone: Tone; children: string; title?: string }) {
  return (
    <span className="mark" data-tone={tone} title={title}>
      <span aria-hidden="true" className="mark-shape">
        {SHAPES[tone]}
      </span>
      {children}
    </span>
  )
}
