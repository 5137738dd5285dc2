import pg from 'pg'

/** The plan of a statement for these values, and, where the server can say it, the one for any. */
export async function plansOf(
  url: string,
  statement: { readonly text: string },
  params: readonly unknown[],
): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const text = async (query: string, values: unknown[] = []) =>
      (await client.query<{ 'QUERY PLAN': string }>(query, values)).rows.map((row) => row['QUERY PLAN']).join('\n')
    const plans = [await text(`explain ${statement.text}`, [...params])]
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
    if (Number(rows[0]?.server_version_num) >= 160_000)
      plans.push(await text(`explain (generic_plan) ${statement.text}`))
    return plans
  } finally {
    await client.end()
  }
}
