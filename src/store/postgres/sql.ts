import { createHash } from 'node:crypto'

/** A quoted SQL name, or a fixed piece of SQL made from names. The only thing a statement may be built from. */
export class Identifier {
  readonly quoted: string
  constructor(...names: string[]) {
    this.quoted = names.map((name) => `"${name.replaceAll('"', '""')}"`).join('.')
  }
}

/** A fixed list of columns, optionally behind a table's alias. */
export class Columns {
  readonly quoted: string
  constructor(names: readonly string[], alias?: string) {
    this.quoted = names.map((name) => (alias ? `${alias}.${name}` : name)).join(', ')
  }
}

/** One statement nested in another. */
export class Fragment {
  constructor(readonly quoted: string) {}
}

/** SQL text plus the types of its parameters ($1, $2, …) and of the rows it returns. */
export interface Statement<Params extends readonly unknown[] = readonly unknown[], Row = unknown> {
  /** Under which connections prepare it. Unique per schema and text. */
  readonly name: string
  readonly text: string
  readonly types?: { params: Params; row: Row }
}

/** Values never enter the text: an interpolated string does not type-check. */
export function sql<Params extends readonly unknown[] = readonly [], Row = unknown>(
  text: TemplateStringsArray,
  ...names: (Identifier | Columns | Fragment)[]
): Statement<Params, Row> {
  const whole = String.raw(text, ...names.map((name) => name.quoted)).trim()
  return { name: nameOf(whole), text: whole }
}

/** A fragment for use inside {@link sql}; holds names only, never values. */
export function fragment(text: TemplateStringsArray, ...names: (Identifier | Columns | Fragment)[]): Fragment {
  return new Fragment(String.raw(text, ...names.map((name) => name.quoted)))
}

/** Joins fragments, for statements that repeat a part per slot. */
export function join(parts: readonly Fragment[], separator: string): Fragment {
  return new Fragment(parts.map((part) => part.quoted).join(separator))
}

/** Names a statement by its text, so that a changed text is never run under an old plan. */
function nameOf(text: string): string {
  return `sw_${createHash('sha1').update(text).digest('hex').slice(0, 16)}`
}

/** A whole number as SQL text: for slots and limits that are part of the statement. */
export function whole(number: number): Fragment {
  return new Fragment(String(Math.trunc(number)))
}
