import { useMemo, useState } from 'react'
import { exactJson } from '../../exact-json.js'
import { NoAnswer } from '../../server.js'

/** How far an action is. Nothing is `done` before the server has said so. */
export type ActionState<R> =
  | { readonly is: 'asking' }
  | { readonly is: 'acting' }
  | { readonly is: 'done'; readonly result: R }
  /** The server refused: nothing was done. */
  | { readonly is: 'refused'; readonly error: unknown }
  /** No answer came: it may have been done. Sent again, with the same key, it is done once. */
  | { readonly is: 'unknown'; readonly error: NoAnswer }

/**
 * Runs an action once, however often its button is pressed.
 *
 * @param request - What is asked for; another request gets another idempotency key.
 * @param onSettled - After an answer, and where none came: what is shown may be old.
 */
export function useAction<R>(request: unknown, run: (key: string) => Promise<R>, onSettled: () => unknown) {
  const [state, setState] = useState<ActionState<R>>({ is: 'asking' })
  const text = exactJson(request) ?? ''
  // biome-ignore lint/correctness/useExhaustiveDependencies: a key belongs to a request.
  const key = useMemo(newKey, [text])
  const act = async () => {
    if (state.is === 'acting' || state.is === 'done') return
    setState({ is: 'acting' })
    try {
      setState({ is: 'done', result: await run(key) })
    } catch (error) {
      setState(error instanceof NoAnswer ? { is: 'unknown', error } : { is: 'refused', error })
    }
    await onSettled()
  }
  return { state, act }
}

/** `crypto.randomUUID` is not there on pages that came over plain HTTP. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
