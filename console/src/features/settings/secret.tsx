import { CopyButton } from '../../components/copy-as.js'
import './secret.css'

interface SecretProps {
  /** null: the request was sent again, and its first answer had it. */
  readonly secret: string | null
  readonly what: string
  /** What to do where it was never seen. */
  readonly instead: string
}

/** A secret in the only answer that has it. Nothing keeps it when the dialog is closed. */
export function Secret({ secret, what, instead }: SecretProps) {
  if (secret === null)
    return (
      <p>
        {what} is made, but its secret stood in the first answer, which did not come here. {instead}
      </p>
    )
  return (
    <>
      <p>{what} is made. This is its secret; it is shown now and never again.</p>
      <pre className="secret">{secret}</pre>
      <CopyButton text={secret} what="Copy the secret" />
    </>
  )
}
