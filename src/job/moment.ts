/** What ISO text of four digits a year can say, and PostgreSQL can read. */
const FIRST_MS = new Date('0001-01-01T00:00:00Z').getTime()
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Whether it is a time that every surface and every store can hold: from the year 1 to 9999. */
export function isMoment(value: unknown): value is Date {
  return value instanceof Date && value.getTime() >= FIRST_MS && value.getTime() <= LAST_MS
}
