// Usage that has changed since alerts were held against it. A row is written in the transaction of each change, and only where an alert
// may have to do with it. Rows are never counted off by a number or a time: whoever looks deletes those that he took, so one that is
// committed late is taken later.

import { CompiledQuery, sql } from 'kysely';
import { plainArray, textArray } from '../array-text.ts';
import type { Queries } from '../database.ts';

/**
 * The parts of the record statement that note what it has added to, for a batch with organizations that have alerts. `$2` are the
 * organizations of the batch. Whoever makes an alert has all begin again who have not seen it (makeRecordersLookAgain).
 */
export const touchRecorded = (rows: string): string => `watched AS MATERIALIZED (
  SELECT alerts.organization_id, meter_id, external_id
  FROM alerts LEFT JOIN customers ON customers.organization_id = alerts.organization_id AND customers.id = customer_id
  WHERE alerts.organization_id = ANY ($2::uuid[]) AND status = 'ACTIVE' AND (customer_id IS NULL OR external_id IS NOT NULL)
),
touched AS (
  INSERT INTO touched_usage (organization_id, customer_external_id, meter_id)
  SELECT DISTINCT organization_id, customer_external_id, meter_id FROM ${rows} AS added
  WHERE EXISTS (SELECT FROM watched WHERE watched.organization_id = added.organization_id
    AND coalesce(watched.meter_id = added.meter_id, true) AND coalesce(external_id = customer_external_id, true))
)`;

/** Notes a change of usage of customers ($2), each of a meter ($3; null: of all), where the organization ($1) has alerts. */
export const TOUCH = `
INSERT INTO touched_usage (organization_id, customer_external_id, meter_id)
SELECT DISTINCT $1::uuid, customer, meter FROM unnest($2::text[], $3::uuid[]) AS changed (customer, meter)
WHERE EXISTS (SELECT FROM alerts WHERE organization_id = $1::uuid AND status = 'ACTIVE')`;

/** What {@link TOUCH} notes. */
export interface Touched {
  customerExternalId: string;
  /** Null: all meters, and what they cost. */
  meterId: string | null;
}

/** The values of {@link TOUCH}. */
export function touchValues(organizationId: string, touched: readonly Touched[]): unknown[] {
  return [
    organizationId,
    textArray(touched.map(({ customerExternalId }) => customerExternalId)),
    plainArray(touched.map(({ meterId }) => meterId)),
  ];
}

/** Notes a change in the transaction that makes it. */
export async function touchUsage(
  transaction: Queries,
  organizationId: string,
  touched: readonly Touched[],
): Promise<void> {
  if (touched.length === 0) return;
  await transaction.executeQuery(CompiledQuery.raw(TOUCH, touchValues(organizationId, touched)));
}

/** Changes of one customer. */
export interface TouchedCustomer {
  meterIds: Set<string>;
  /** Whether it may be any meter, and what they cost. */
  isAny: boolean;
}

/** What was taken: by customer, and since when the oldest of it has waited (ISO 8601). */
export interface TakenUsage {
  rows: number;
  customers: Map<string, TouchedCustomer>;
  since: string | null;
}

/**
 * Takes what has waited longest of an organization and nobody else has in hand, at most `limit` rows. It is gone when the transaction
 * commits.
 */
export async function takeTouched(transaction: Queries, organizationId: string, limit: number): Promise<TakenUsage> {
  const { rows } = await sql<{ customer_external_id: string; meter_id: string | null; touched_at: string }>`
    DELETE FROM touched_usage WHERE organization_id = ${organizationId}::uuid AND id = ANY (ARRAY(
      SELECT id FROM touched_usage WHERE organization_id = ${organizationId}::uuid
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING customer_external_id, meter_id, touched_at`.execute(transaction);
  const taken: TakenUsage = { rows: rows.length, customers: new Map(), since: null };
  for (const { customer_external_id, meter_id, touched_at } of rows) {
    const customer = taken.customers.get(customer_external_id) ?? { meterIds: new Set(), isAny: false };
    taken.customers.set(customer_external_id, customer);
    if (meter_id === null) customer.isAny = true;
    else customer.meterIds.add(meter_id);
    if (taken.since === null || touched_at < taken.since) taken.since = touched_at;
  }
  return taken;
}
