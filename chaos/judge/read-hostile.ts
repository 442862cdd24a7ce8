// Hostile organizations in Postgres: out of sight where the honest are judged, and counted on their own.

import pg from 'pg';
import type { HostileCount } from './hostile-checks.ts';

/** The tables whose rows belong to an organization, of those that the judge reads. */
const TABLES = [
  'events',
  'rejected_events',
  'duplicate_events',
  'usage_rollups',
  'usage_days',
  'meter_quarters',
  'unique_values',
  'unique_days',
  'meter_value_days',
  'meter_value_quarters',
];

/** From now on this connection sees no row of these organizations. */
export async function hideOthers(client: pg.Client, organizations: string[]): Promise<void> {
  if (organizations.length === 0) return;
  const ids = `(${organizations.map((id) => client.escapeLiteral(id)).join(', ')})`;
  for (const table of TABLES) {
    // A temporary view is found before the table whose name it has.
    await client.query(
      `CREATE TEMPORARY VIEW ${table} AS SELECT * FROM public.${table} WHERE organization_id NOT IN ${ids}`,
    );
  }
  // These have no organization of their own. A key that belongs to no event at all stays in sight.
  await client.query(`CREATE TEMPORARY VIEW idempotency_keys AS SELECT * FROM public.idempotency_keys AS key
    WHERE NOT EXISTS (SELECT 1 FROM public.events WHERE events.id = key.event_id AND organization_id IN ${ids})`);
}

/** What Postgres holds of each of these organizations. */
export async function readHostile(databaseUrl: string, organizations: string[]): Promise<HostileCount[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const counts: HostileCount[] = [];
    for (const organization of organizations) {
      const count = async (table: string, what = 'count(*)'): Promise<number> => {
        const { rows } = await client.query<{ count: string }>(
          `SELECT coalesce(${what}, 0)::text AS count FROM ${table} WHERE organization_id = $1`,
          [organization],
        );
        return Number(rows[0]?.count);
      };
      counts.push({
        organization,
        recorded: await count('events'),
        rejected: await count('rejected_events'),
        duplicates: await count('duplicate_events'),
        inRollups: await count('usage_rollups', 'sum(event_count)'),
      });
    }
    return counts;
  } finally {
    await client.end();
  }
}
