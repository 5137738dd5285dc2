import { type CheckedEdit, type EditPayloadOptions, Jobs } from '../../client/jobs.js'
import { defined } from '../../http/defined.js'
import type { ApiClient } from '../../http/index.js'
import { decodePayload, encodePayload, MAX_PAYLOAD_BYTES } from '../../job/payload.js'
import { fromWire } from './from-wire.js'

/** Jobs behind a server, which checks edits with what its workers publish. */
export class RemoteJobs extends Jobs {
  constructor(
    private readonly api: ApiClient,
    ...rest: ConstructorParameters<typeof Jobs>
  ) {
    super(...rest)
  }

  override async editPayload(
    id: string,
    payload: unknown,
    { unchecked, reason }: EditPayloadOptions = {},
  ): Promise<CheckedEdit> {
    const { text } = encodePayload(payload, { maxBytes: MAX_PAYLOAD_BYTES, bigint: true })
    const read = decodePayload(text, { bigint: true })
    const body = { payload: read.ok ? read.value : null, ...defined({ unchecked, reason }) }
    return fromWire(await this.api.editPayload({ params: { id }, body }))
  }
}
