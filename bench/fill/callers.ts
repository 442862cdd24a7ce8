import { newApiKey, hashSecret } from '@weir/api/access/secrets';
import { newId } from '@weir/shared/ids';
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { Caller } from '../load/plan.ts';

/** A caller with the ids that it has in Postgres. */
export interface InsertedCaller extends Caller {
  organizationId: string;
  meterId: string;
}

/**
 * Makes organizations with a SUM meter and a key for tracking each, straight in Postgres: signing up takes a tenth of a
 * second each, on purpose.
 */
export async function insertCallers(client: pg.Client, count: number): Promise<InsertedCaller[]> {
  const callers = Array.from({ length: count }, () => ({
    organizationId: newId(),
    meterId: newId(),
    meterToken: randomBytes(16).toString('hex'),
    apiKey: newApiKey(),
  }));
  const column = (of: (caller: InsertedCaller) => unknown) => callers.map(of);
  await client.query(
    `WITH callers AS MATERIALIZED (
       SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[])
         AS t (organization_id, meter_id, meter_token, key_hash)
     ),
     organization AS (INSERT INTO organizations (id, name) SELECT organization_id, 'Bench' FROM callers),
     feature AS (
       INSERT INTO features (organization_id, id, name, lookup_key, type)
       SELECT organization_id, meter_id, 'Requests', 'requests', 'meter' FROM callers
     ),
     meter AS (
       INSERT INTO meters (organization_id, id, feature_id, name, meter_token, aggregation_type)
       SELECT organization_id, meter_id, meter_id, 'Requests', meter_token, 'SUM' FROM callers
     )
     INSERT INTO api_keys (organization_id, id, name, key_hash, scopes)
     SELECT organization_id, meter_id, 'bench', key_hash, ARRAY['usage.write', 'usage.read'] FROM callers`,
    [
      column(({ organizationId }) => organizationId),
      column(({ meterId }) => meterId),
      column(({ meterToken }) => meterToken),
      column(({ apiKey }) => hashSecret(apiKey)),
    ],
  );
  return callers;
}
