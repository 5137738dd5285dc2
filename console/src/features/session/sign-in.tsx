import { Button, PasswordInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Problem } from '../../components/states.js'
import { signIn } from './session.js'
import './sign-in.css'

/** Asks for a token. It is sent once, and kept by nobody but the server's own cookie. */
export function SignIn() {
  const queries = useQueryClient()
  const [token, setToken] = useState('')
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      await signIn(token.trim())
      setToken('')
      await queries.resetQueries()
    } catch (refused) {
      setError(refused)
    }
    setBusy(false)
  }
  return (
    <main className="sign-in">
      <title>Sign in · Spillway</title>
      <form onSubmit={(event) => void submit(event)}>
        <div className="sign-in-name">Spillway</div>
        <h1>Sign in</h1>
        <p className="quiet">
          With a token, which whoever runs the server makes:
          <code>
            npx spillway tokens create NAME <span>--role viewer</span>
          </code>
        </p>
        <PasswordInput
          label="Token"
          autoComplete="current-password"
          autoFocus
          required
          withAsterisk={false}
          value={token}
          onChange={({ currentTarget }) => setToken(currentTarget.value)}
        />
        {error !== undefined && <Problem error={error} isSmall />}
        <Button type="submit" loading={isBusy} disabled={token.trim() === ''}>
          Sign in
        </Button>
      </form>
    </main>
  )
}
