/**
 * The statement that copies each row `t` of a table so many times, with changes for `jsonb_build_object`. Those of several copies name
 * `n`, the number of the copy: else all are the same. The record stands in FROM: among what is selected it would be made anew for each
 * of its columns.
 */
export function copyRows(table: string, changes: string, { times, where }: { times: number; where?: string }): string {
  return `INSERT INTO ${table} SELECT copy.* FROM ${table} AS t CROSS JOIN generate_series(1, ${times}) AS n
    CROSS JOIN LATERAL jsonb_populate_record(t, jsonb_build_object(${changes})) AS copy WHERE ${where ?? 'true'}`;
}
