// What is done of alerts slice by slice: a new one has all usage that is there looked at, as if it had just changed; and of one that is
// deleted the crossings go, and then itself. Each slice is a transaction that moves a cursor on, so it may be cut off anywhere.

import { sql } from 'kysely';
import { isLockTimeout, type Database, type Queries } from '../database.ts';
import { DELETED_MAX } from '../delete-in-slices.ts';
import { alsoOf } from '../of-organization.ts';
import { ROLLUPS } from '../rollups.ts';
import { awaitOpenings, touchUsage } from './touched-usage.ts';

/** So many customers, or subscriptions, are looked at in a slice. */
const SLICE_MAX = 500;

interface LookingAlert {
  id: string;
  meter_id: string | null;
  customer_id: string | null;
  customer_external_id: string | null;
  looked_after: string;
}

/**
 * Goes on with an alert that has not looked at all that is there. Returns whether there was one that nobody else had in hand. One that has yet
 * to begin is left for another time where somebody is long about opening a period, and may not have seen it.
 */
export async function lookOn({ kysely }: Database, organizationId: string): Promise<boolean> {
  try {
    return await kysely.transaction().execute((transaction) => lookOnWithin(transaction, organizationId));
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}

async function lookOnWithin(transaction: Queries, organizationId: string): Promise<boolean> {
  // Those that have begun come first: they wait for nobody.
  const { rows } = await sql<LookingAlert>`
    SELECT alerts.id, meter_id, customer_id, external_id AS customer_external_id, looked_after
    FROM alerts LEFT JOIN customers ON customers.organization_id = alerts.organization_id AND customers.id = customer_id
    WHERE alerts.organization_id = ${organizationId}::uuid AND status = 'ACTIVE' AND looked_after IS NOT NULL
    ORDER BY looked_after = '', alerts.id LIMIT 1 FOR UPDATE OF alerts SKIP LOCKED`.execute(transaction);
  const [alert] = rows;
  if (alert === undefined) return false;
  if (alert.looked_after === '') await awaitOpenings(transaction, organizationId);
  const slice = await findSlice(transaction, organizationId, alert);
  await touchUsage(
    transaction,
    organizationId,
    slice.map(({ customer }) => ({ customerExternalId: customer, meterId: alert.meter_id })),
  );
  const last = slice.length < SLICE_MAX ? null : (slice.at(-1)?.place ?? null);
  await sql`UPDATE alerts SET looked_after = ${last}
    WHERE organization_id = ${organizationId}::uuid AND id = ${alert.id}::uuid`.execute(transaction);
  return true;
}

interface Seen {
  customer: string;
  /** Where the next slice goes on, behind this. */
  place: string;
}

async function findSlice(db: Queries, organizationId: string, alert: LookingAlert): Promise<Seen[]> {
  const { meter_id, customer_id, customer_external_id: customer, looked_after } = alert;
  if (customer_id !== null) return customer === null ? [] : [{ customer, place: customer }];
  if (meter_id === null) {
    const { rows } = await sql<Seen>`
      SELECT customer_external_id AS customer, id AS place FROM subscriptions
      WHERE organization_id = ${organizationId}::uuid
        AND id > ${looked_after === '' ? '00000000-0000-0000-0000-000000000000' : looked_after}::uuid
      ORDER BY id LIMIT ${SLICE_MAX}`.execute(db);
    return rows;
  }
  // From one customer of the meter to the next by the primary key, however many days each of them has.
  const next = (after: string) => sql`(SELECT customer_external_id FROM ${sql.table(ROLLUPS.customerUsageDays.table)}
    WHERE organization_id = ${organizationId}::uuid AND meter_id = ${meter_id}::uuid AND customer_external_id > ${sql.raw(after)}
    ORDER BY customer_external_id LIMIT 1)`;
  const { rows } = await sql<Seen>`
    WITH RECURSIVE given AS (SELECT ${looked_after}::text AS after), seen (customer, place) AS (
      SELECT ${next('given.after')}, 1 FROM given
      UNION ALL SELECT ${next('seen.customer')}, seen.place + 1 FROM seen WHERE customer IS NOT NULL AND place < ${SLICE_MAX}
    )
    SELECT customer, customer AS place FROM seen WHERE customer IS NOT NULL ORDER BY seen.place`.execute(db);
  return rows;
}

/** Deletes crossings of alerts that are deleted, and one that has none left. Returns whether there was any such alert. */
export async function deleteCrossings(db: Queries, organizationId: string): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM alerts WHERE organization_id = ${organizationId}::uuid AND status = 'DELETED' LIMIT 1`.execute(db);
  const [alert] = rows;
  if (alert === undefined) return false;
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM alert_crossings WHERE organization_id = ${organizationId}::uuid AND id = ANY (ARRAY(
      SELECT id FROM alert_crossings WHERE alert_id = ${alert.id}::uuid AND ${alsoOf(organizationId)}
      LIMIT ${DELETED_MAX}))`.execute(db);
  if (numAffectedRows < DELETED_MAX)
    await sql`DELETE FROM alerts WHERE organization_id = ${organizationId}::uuid AND id = ${alert.id}::uuid
      AND NOT EXISTS (SELECT FROM alert_crossings
        WHERE alert_id = ${alert.id}::uuid AND ${alsoOf(organizationId)})`.execute(db);
  return true;
}
