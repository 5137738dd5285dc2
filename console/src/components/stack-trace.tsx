import { seen } from './user-text.js'
import './stack-trace.css'

/** A line of a stack that says where: `at name (file:1:2)`. */
const FRAME = /^\s*at .*[:(].*$/
const FOREIGN = /node_modules[/\\]|\(?node:|<anonymous>|\binternal\//

/** A stack as text, in which the frames of the application stand out from those of Node.js and of packages. */
export function StackTrace({ stack, label = 'Stack' }: { stack: string; label?: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard.
    <pre className="stack-trace" role="region" tabIndex={0} aria-label={label}>
      {stack.split('\n').map((line, n) => (
        <div key={n} data-frame={FRAME.test(line) ? (FOREIGN.test(line) ? 'foreign' : 'own') : undefined}>
          {seen(line)}
        </div>
      ))}
    </pre>
  )
}
