import { Fragment } from '../sql.js'

/** Collects the values of a statement whose conditions depend on what was asked: each becomes the next `$n`. */
export class Conditions {
  readonly values: unknown[]

  constructor(values: readonly unknown[] = []) {
    this.values = [...values]
  }

  /** The number of the newest value, for a statement to name it. */
  get last(): Fragment {
    return new Fragment(String(this.values.length))
  }

  /** `$n`, with its type. */
  value(value: unknown, type = 'text'): Fragment {
    this.values.push(value)
    return new Fragment(`$${this.values.length}::${type}`)
  }

  /** One comparison: fixed SQL on the left, a value on the right. */
  compare(left: string, value: unknown, type = 'text'): Fragment {
    return new Fragment(`${left} ${this.value(value, type).quoted}`)
  }
}
