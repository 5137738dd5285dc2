import type { Total } from '../../api.js'
import { flag } from '../../command-text.js'
import { counted, totalText } from '../../words.js'
import type { Scope } from '../operations/bulk.js'
import { filterText } from './filters.js'

/** Which dead letters an action is about, in words and in number. */
export function ScopeText({ scope, total }: { scope: Scope; total: Total }) {
  if ('ids' in scope) {
    const [only] = scope.ids
    return <>{scope.ids.length === 1 ? `Dead letter ${only}` : counted(scope.ids.length, 'selected dead letter')}</>
  }
  const { all: _, ...filter } = scope.selector
  const text = filterText(filter)
  return (
    <>
      {text === undefined ? 'Every dead letter there is' : `Every dead letter with ${text}`}: {totalText(total)}
    </>
  )
}

/** The same scope as the flags of a command that acts: there `--reason` says why. */
export function scopeFlags(scope: Scope): readonly string[] {
  if ('ids' in scope) return scope.ids
  const { all, reason, ...filter } = scope.selector
  return [
    ...Object.entries(filter).flatMap(([name, value]) => flag(name, value)),
    ...flag('dlq-reason', reason),
    ...(all ? ['--all'] : []),
  ]
}
