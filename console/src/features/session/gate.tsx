import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Loading, Problem } from '../../components/states.js'
import { Refusal } from '../../server.js'
import { isStranger, metaQuery } from './session.js'
import { SignIn } from './sign-in.js'

/** Lets through whoever the server knows; the address stays, so that signing in leads to where it points. */
export function Gate({ children }: { children: ReactNode }) {
  const { data, error, refetch } = useQuery(metaQuery)
  if (data !== undefined) return isStranger(data) ? <SignIn /> : children
  if (error instanceof Refusal && error.status === 401) return <SignIn />
  if (error !== null) return <Problem error={error} onRetry={refetch} />
  return <Loading what="Asking the server who you are" />
}
