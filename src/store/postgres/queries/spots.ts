import { type Fragment, fragment, type Identifier } from '../sql.js'

/**
 * `delete from slot … where`: the rows at the places that a CTE `spots (spot)` names, each looked up by its ctid.
 *
 * Never by reading the whole slot, whatever the planner knows of it: a plan is kept for as long as a connection, and made
 * while the slot is empty, reading it whole is the cheapest; when a long reader keeps its dead rows, the same plan reads
 * millions of them for each claim. `ctid = any (array(…))` falls into that trap. Of a limit it cannot know the planner
 * assumes a tenth, so here the places are always few and the slot is not.
 */
export function deleteSpots(slot: Identifier): Fragment {
  return fragment`delete from ${slot} r
         using (select spot from spots limit (select count(*) from spots)) as s
         where r.ctid = s.spot`
}
