import type { Acted } from '../store/store.js'
import type { Output } from './output.js'

/** What an action by id did. Warnings go to the person, in the document they stand beside the rest. */
export function showActed(out: Output, verb: string, acted: Acted): void {
  if (out.isJson) {
    out.document(acted)
    return
  }
  out.line(
    acted.changed ? `${verb} job ${acted.id}: it is ${acted.state}` : `job ${acted.id} was ${acted.state} already`,
  )
  for (const warning of acted.warnings ?? []) out.note(`warning: ${warning}`)
}
