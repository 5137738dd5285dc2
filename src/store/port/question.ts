/** Which of these payloads would decode now. */
export interface Question {
  readonly id: string
  readonly kind: string
  readonly payloads: readonly HeldPayload[]
}

/** An undecodable job as much as decoding needs of it. */
export interface HeldPayload {
  readonly id: string
  readonly kind: string
  readonly version: number
  /** JSON text, as stored. */
  readonly payload: string
}

/** What code says of one payload. */
export interface Verdict {
  readonly id: string
  /** Of the kind and the payload it was asked about: a payload that is edited later has another one. */
  readonly fingerprint: string
  readonly ok: boolean
  /** Where it could not be read, and why; both empty for one that can. */
  readonly path: string
  readonly message: string
}
