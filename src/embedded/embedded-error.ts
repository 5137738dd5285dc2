/**
 * The embedded database could not be had: there is no PostgreSQL to run here, or it did not come up (then the message
 * ends with its log). `code` is public API and is what callers should test.
 */
export class EmbeddedError extends Error {
  readonly code = 'embedded_unavailable'

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}
