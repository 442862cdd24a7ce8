// Count in = count out: what the clients said they held, beside what Postgres has.

import type pg from 'pg';
import type { Producer } from './producer.ts';

export interface Comparison {
  client: string;
  kills: number;
  /** Events that the client said it held. */
  queued: number;
  /** Different events in Postgres. */
  recorded: number;
  /** Said to be held, and not in Postgres. */
  missing: string[];
  /** In Postgres more than once. */
  twice: string[];
  /** In Postgres, while the process was killed before it could say so. */
  unsaid: number;
}

/** Looks when everything that was accepted is recorded. */
export async function compare(
  postgres: Pick<pg.Client, 'query'>,
  producers: readonly Producer[],
): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const { name, kills, queued } of producers) {
    const { rows } = await postgres.query<{ mark: string; count: number }>(
      "SELECT metadata ->> 'mark' AS mark, count(*)::int FROM events WHERE customer_external_id = $1 GROUP BY 1",
      [name],
    );
    const recorded = new Set(rows.map(({ mark }) => mark));
    comparisons.push({
      client: name,
      kills,
      queued: queued.size,
      recorded: recorded.size,
      missing: [...queued].filter((mark) => !recorded.has(mark)),
      twice: rows.filter(({ count }) => count > 1).map(({ mark }) => mark),
      unsaid: rows.filter(({ mark }) => !queued.has(mark)).length,
    });
  }
  return comparisons;
}

/** What breaks the promise, in words; a client that did nothing proves nothing. */
export function violationsOf({ client, kills, queued, missing, twice, unsaid }: Comparison): string[] {
  const violations: string[] = [];
  if (queued === 0) violations.push(`${client} queued nothing`);
  if (missing.length > 0) violations.push(`${client}: ${missing.length} events are missing, such as ${missing[0]}`);
  if (twice.length > 0) violations.push(`${client}: ${twice.length} events count twice, such as ${twice[0]}`);
  if (kills === 0 && unsaid > 0) violations.push(`${client}: ${unsaid} events count that were never queued`);
  return violations;
}
