import { Button } from '@mantine/core'
import { useState } from 'react'
import { Problem } from '../../components/states.js'
import { type Answer, ask, NoAnswer, type Sent } from '../../server.js'
import { count, spoken } from '../../words.js'
import { useRefreshDeadLetters } from './after.js'

/** What became of the two steps. The payload is saved in any case: else the whole would have been refused. */
export interface Saved {
  readonly edited: Answer<'editPayload'>
  /** Undefined where none was wanted. */
  readonly retry: Retried | undefined
}

type Retried =
  | { readonly is: 'done'; readonly job: Answer<'retryDlq'> }
  | { readonly is: 'failed'; readonly error: unknown; readonly again: () => Promise<Retried> }

/** Saves a payload and then, where it is wanted, retries the job. The second may fail with the first done. */
export async function savePayload(
  id: string,
  body: Sent<'editPayload'>['body'],
  doesRetry: boolean,
  key: string,
): Promise<Saved> {
  const edited = await ask('editPayload', { params: { id }, body }, { key })
  return { edited, retry: doesRetry ? await retry(id, body.reason, `${key}-retry`) : undefined }
}

async function retry(id: string, reason: string | undefined, key: string): Promise<Retried> {
  try {
    const body = reason === undefined ? {} : { reason }
    return { is: 'done', job: await ask('retryDlq', { params: { id }, body }, { key }) }
  } catch (error) {
    return { is: 'failed', error, again: () => retry(id, reason, key) }
  }
}

/** Says exactly what is done and what is not. */
export function SavedPayload({ id, saved }: { id: string; saved: Saved }) {
  const { edited } = saved
  const refresh = useRefreshDeadLetters()
  const [retried, setRetried] = useState(saved.retry)
  const [isBusy, setBusy] = useState(false)
  const again = async () => {
    if (retried?.is !== 'failed') return
    setBusy(true)
    setRetried(await retried.again())
    setBusy(false)
    await refresh()
  }
  return (
    <>
      <p>
        The payload is saved as version {count(edited.version)}
        {edited.checked ? ', and the published schema accepts it.' : '. No published schema has checked it.'}
      </p>
      {retried?.is === 'done' && (
        <p>
          Job {id} is {spoken(retried.job.state)}.
        </p>
      )}
      {retried?.is === 'failed' && (
        <div role="alert">
          <p className="action-danger">
            {retried.error instanceof NoAnswer
              ? 'Of the retry no answer came: it may have been done, or not.'
              : 'The retry was refused: the job is a dead letter still, with the new payload.'}
          </p>
          <Problem error={retried.error} isSmall />
          <Button size="compact-sm" loading={isBusy} onClick={() => void again()}>
            Send the retry again
          </Button>
        </div>
      )}
    </>
  )
}
