import { SpillwayError } from '../job/errors.js'
import type { Page, PageRequest } from '../store/store.js'

export interface ListOptions {
  /** Rows of one page, 1 to 1,000. Default: 50. It does not limit `for await`, which goes on to the end. */
  readonly limit?: number | undefined
  /** Where the last page ended: its `cursor`. Default: the beginning. */
  readonly cursor?: string | null | undefined
}

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 1_000

/**
 * A list that is read either way: `await` gives one page, `for await` every row from there on, page by page.
 *
 * Nothing is asked before one of the two is done. Rows that come or go meanwhile neither repeat nor hide others,
 * because a cursor is a place in the order and not a count.
 *
 * @example
 * const { items, cursor } = await spillway.dlq.list({ queue: 'billing' }, { limit: 20 })
 * for await (const dead of spillway.dlq.list({ queue: 'billing' })) console.log(dead.id)
 */
export class Listing<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  private readonly request: PageRequest

  /** @throws `invalid_option` where `limit` is not a whole number from 1 to 1,000. */
  constructor(
    private readonly ask: (request: PageRequest) => Promise<Page<T>>,
    options: ListOptions = {},
  ) {
    const { limit = DEFAULT_LIMIT, cursor } = options
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
      throw new SpillwayError(
        'invalid_option',
        `cannot list ${limit} rows a page: a whole number from 1 to ${MAX_LIMIT} is accepted`,
      )
    }
    this.request = cursor === undefined || cursor === null ? { limit } : { limit, cursor }
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a list is how its first page is asked for.
  then<A = Page<T>, B = never>(
    onPage?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.ask(this.request).then(onPage, onError)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let request = this.request
    for (;;) {
      const { items, cursor } = await this.ask(request)
      yield* items
      if (cursor === null) return
      request = { limit: this.request.limit, cursor }
    }
  }
}
