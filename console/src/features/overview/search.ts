import { given, oneOf } from '../../components/search-params.js'

export interface OverviewSearch {
  /** Default: the last hour. */
  readonly range?: '24h'
}

/** The address of the overview, as far as it can be understood. */
export function overviewSearch(search: Record<string, unknown>): OverviewSearch {
  return given({ range: oneOf(search, 'range', ['24h']) })
}
