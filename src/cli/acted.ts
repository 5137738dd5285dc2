import type { Acted } from '../store/store.js'
import type { Output } from './output.js'

/** What an action by id did. Warnings go to the person, in the document they stand beside the rest. */
export function showActed(out: Output, verb: string, acted: Acted): void {
  if (out.isJson) {
    out.document(acted)
    return
  }
  const now = acted.state === verb ? '' : `: it is ${acted.state}`
  out.line(acted.changed ? `${verb} job ${acted.id}${now}` : `job ${acted.id} was ${acted.state} already`)
  for (const warning of acted.warnings ?? []) out.note(`warning: ${warning}`)
}
