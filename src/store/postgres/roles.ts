import { SpillwayError } from '../../job/errors.js'
import { rolesStatements } from './queries/roles.js'

/**
 * The script that makes the four roles of a schema and gives each the least it needs; may be run again.
 *
 * @param prefix - How the names of the roles begin. @throws `invalid_option` for what is no name.
 */
export function rolesScript(schema: string, prefix: string): string {
  for (const name of [schema, prefix]) {
    if (!/^[a-z_][a-z0-9_]{0,47}$/.test(name)) {
      throw new SpillwayError(
        'invalid_option',
        `cannot name roles after ${JSON.stringify(name)}: 1 to 48 lower-case letters, digits and underscores are accepted`,
      )
    }
  }
  return rolesStatements(schema, prefix)
}
