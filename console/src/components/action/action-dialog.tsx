import { Button, Modal, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { CopyAs } from '../copy-as.js'
import { Loading, Problem } from '../states.js'
import { type ActionState, useAction } from './action.js'
import './action-dialog.css'

export interface ActionDialogProps<P, R> {
  readonly title: string
  /** On the button: `Retry 1,204`. */
  readonly verb: string
  /** What it is about, in words and in number. */
  readonly scope: ReactNode
  /** What cannot be taken back is said here, and its button is red. */
  readonly danger?: string
  /** Everything that is asked for, to tell one request from another: another one gets another idempotency key. */
  readonly request: unknown
  /** What would happen. It is asked again whenever `of` changes, what a preview depends on. Default: the request. */
  readonly preview?: {
    readonly of?: unknown
    readonly ask: (signal: AbortSignal) => Promise<P>
    readonly show: (preview: P) => ReactNode
  }
  /** Fields for how it is to be done. */
  readonly children?: ReactNode
  /** Has to be typed before the button works; it may name what the preview has found. */
  readonly typed?: string | ((preview: P | undefined) => string | undefined)
  /** Something that was filled in cannot be sent, or its preview is not there yet. */
  readonly isBlocked?: boolean
  /** Does it, with the preview it was shown for; the same key whenever it is sent again. */
  readonly run: (key: string, preview: P | undefined) => Promise<R>
  /** What happened, in numbers. */
  readonly done: (result: R) => ReactNode
  /** The same on the command line and over HTTP. */
  readonly copy: { readonly cli: string; readonly curl: string }
  readonly onSettled: () => unknown
  /** Whether it was done by then. */
  readonly onClose: (isDone: boolean) => void
}

/**
 * Asks before something is changed, and says what became of it: scope, preview, options, then the answer. A refusal, or no
 * answer, leaves everything as it stands, so that it can be tried again.
 */
export function ActionDialog<P, R>(props: ActionDialogProps<P, R>) {
  const { title, verb, scope, danger, request, preview, children, run, done, copy, onSettled, onClose } = props
  const [typing, setTyping] = useState('')
  const shown = useQuery({
    queryKey: ['preview', title, preview?.of ?? request],
    queryFn: ({ signal }) => preview?.ask(signal) as Promise<P>,
    enabled: preview !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    meta: { live: false },
  })
  const { state, act } = useAction(request, (key) => run(key, shown.data), onSettled)
  const typed = typeof props.typed === 'function' ? props.typed(shown.data) : props.typed
  const isSeen = (preview === undefined || shown.isSuccess) && props.isBlocked !== true
  const isReady = state.is === 'unknown' || (isSeen && (typed === undefined || typing.trim() === typed))
  // What may have been done is sent again as it was, or not at all.
  const isFixed = state.is === 'acting' || state.is === 'unknown'
  return (
    <Modal
      opened
      title={title}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={state.is !== 'acting'}
      withCloseButton={state.is !== 'acting'}
      onClose={() => onClose(state.is === 'done')}
    >
      {state.is === 'done' ? (
        <div className="action-part" role="status">
          {done(state.result)}
        </div>
      ) : (
        <>
          <div className="action-part action-scope">{scope}</div>
          {preview !== undefined && (
            <div className="action-part">
              {shown.isPending && <Loading rows={3} what="Looking what would happen" />}
              {shown.isError && <Problem error={shown.error} onRetry={shown.refetch} isSmall />}
              {shown.isSuccess && preview.show(shown.data)}
            </div>
          )}
          <fieldset className="action-part action-options" disabled={isFixed}>
            <legend className="unseen">Options</legend>
            {children}
            {danger !== undefined && <p className="action-danger">{danger}</p>}
            {typed !== undefined && (
              <TextInput
                label={
                  <>
                    Type <code>{typed}</code> to go on
                  </>
                }
                value={typing}
                onChange={({ currentTarget }) => setTyping(currentTarget.value)}
              />
            )}
          </fieldset>
          <Outcome state={state} />
        </>
      )}
      <div className="action-foot">
        <CopyAs {...copy} />
        <div className="action-buttons">
          <Button variant="default" onClick={() => onClose(state.is === 'done')} disabled={state.is === 'acting'}>
            {/* Never `Cancel`: that is what is done to jobs and operations. */}
            {state.is === 'done' ? 'Close' : 'Back'}
          </Button>
          {state.is !== 'done' && (
            <Button
              color={danger === undefined ? undefined : 'red'}
              loading={state.is === 'acting'}
              disabled={!isReady}
              onClick={() => void act()}
            >
              {state.is === 'unknown' ? 'Send again' : verb}
            </Button>
          )}
        </div>
      </div>
    </Modal>
  )
}

function Outcome<R>({ state }: { state: ActionState<R> }) {
  if (state.is === 'refused') return <Problem error={state.error} isSmall />
  if (state.is !== 'unknown') return null
  return (
    <div className="action-part" role="alert">
      <p className="action-danger">No answer came. It may have been done, or not: nobody here knows.</p>
      <p>Sending it again is safe. It carries the same key, and is done once.</p>
    </div>
  )
}
