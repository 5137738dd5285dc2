import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ActionDialog, type ActionDialogProps } from '../../components/action/action-dialog.js'
import { keys, type Noun } from '../../keys.js'
import type { Change } from './change.js'

interface ChangeDialogProps<P, R> {
  readonly title: string
  /** On the button. */
  readonly verb: string
  /** What it is about and what it will do, in words and in number. */
  readonly scope: ReactNode
  readonly change: Change<R>
  /** What cannot be taken back. */
  readonly danger?: string | undefined
  /** Has to be typed before the button works. */
  readonly typed?: string | undefined
  /** What would happen, where the server can say so before. */
  readonly preview?: NonNullable<ActionDialogProps<P, R>['preview']>
  /** There is nothing to send yet, or it cannot be sent so. */
  readonly isBlocked?: boolean
  /** Which nouns may look different afterwards. */
  readonly about: readonly Noun[]
  readonly done: (result: R) => ReactNode
  readonly children?: ReactNode
  /** Whether it was done by then. */
  readonly onClose: (isDone: boolean) => void
}

/** An {@link ActionDialog} for one request. */
export function ChangeDialog<R, P = never>({ change, about, danger, typed, ...others }: ChangeDialogProps<P, R>) {
  const queries = useQueryClient()
  const refresh = () => Promise.all(about.map((noun) => queries.invalidateQueries({ queryKey: keys[noun]() })))
  return (
    <ActionDialog<P, R>
      {...others}
      {...(danger === undefined ? {} : { danger })}
      {...(typed === undefined ? {} : { typed })}
      request={change.request}
      run={change.run}
      copy={change}
      onSettled={refresh}
    />
  )
}
