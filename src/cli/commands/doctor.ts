import type { Command } from 'commander'
import type { Finding } from '../../index.js'
import { runs, subcommand } from '../command.js'
import type { Output } from '../output.js'
import { oneLine } from '../shown.js'

/** `spillway doctor` */
export function doctorCommand(program: Command): void {
  runs(
    subcommand(program, 'doctor', 'look for what is wrong, and say what fixes it; changes nothing').addHelpText(
      'after',
      '\nExit codes: 0 nothing is wrong, 1 something is, 5 the database cannot be reached.\n\nExample:\n  spillway doctor --json',
    ),
    async ({ database, out }) => {
      const { ok, findings, diagnosis } = await database().spillway.doctor()
      if (!ok) process.exitCode = 1
      if (out.isJson) return out.document({ ok, findings, diagnosis })
      if (diagnosis !== null) {
        const { server, connection, schema } = diagnosis
        out.pairs([
          ['server', `PostgreSQL ${server.version}, database ${server.database}, role ${server.role}`],
          [
            'connection',
            `${connection.isPooled ? 'pooled' : 'direct'}, ${connection.hearsNotices ? 'hears notices' : 'polls'}`,
          ],
          ['schema', `version ${schema.version} of ${schema.latest}`],
        ])
        out.line('')
      }
      for (const finding of findings) show(out, finding)
      out.line(ok ? out.colors.green('nothing is wrong') : `${count(findings)}`)
    },
    { needsSchema: false },
  )
}

function show(out: Output, { code, severity, message, fix }: Finding): void {
  const { red, yellow, dim } = out.colors
  const word = severity === 'error' ? red('error  ') : severity === 'warning' ? yellow('warning') : dim('info   ')
  out.line(`${word}  ${code}: ${oneLine(message)}`)
  if (fix !== null) out.line(`         ${dim('fix:')} ${oneLine(fix)}`)
}

function count(findings: readonly Finding[]): string {
  const of = (severity: Finding['severity']) => findings.filter((it) => it.severity === severity).length
  return `${of('error')} errors, ${of('warning')} warnings`
}
