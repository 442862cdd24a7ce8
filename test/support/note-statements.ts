import type { Database } from '@weir/db/database';

/** The texts of all statements of connections that are opened from now on, in the order in which they are sent. */
export function noteStatements({ pool }: Pick<Database, 'pool'>): string[] {
  const statements: string[] = [];
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    const noting = (...given: [text: string | { text: string }, ...unknown[]]) => {
      statements.push(typeof given[0] === 'string' ? given[0] : given[0].text);
      return query(...given);
    };
    client.query = noting as typeof client.query;
  });
  return statements;
}
