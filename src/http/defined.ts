/** What of an object is defined. */
export function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, it]) => it !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
