// Usage that has changed since alerts were held against it. A row is written in the transaction of each change, and only where an alert
// may have to do with it: behind another write of it, so that the transaction has its number before the row has its id, by which
// find-alert-work.ts knows where to look. Whoever looks deletes the rows that he took, so one that is committed late is taken later.

import { groupBy } from '@weir/billing/group-by';
import { CompiledQuery, sql } from 'kysely';
import { OPENING_LOCK } from '../advisory-locks.ts';
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

/**
 * Notes that periods of customers begin, in the transaction that opens them: usage of any meter may be there already. An alert that it does
 * not see waits for the end of the transaction before it looks at what there is ({@link awaitOpenings}).
 */
export async function touchOpened(
  transaction: Queries,
  organizationId: string,
  customers: readonly string[],
): Promise<void> {
  if (customers.length === 0) return;
  // A statement of its own: the next one sees every alert that has looked without waiting for this.
  await sql`SELECT pg_advisory_xact_lock_shared(${OPENING_LOCK}, uuid_hash(${organizationId}::uuid))`.execute(
    transaction,
  );
  await touchUsage(
    transaction,
    organizationId,
    customers.map((customer) => ({ customerExternalId: customer, meterId: null })),
  );
}

/** Those who open something meanwhile wait so long at most. They come behind whoever waits, so they cannot keep it off one after another. */
const OPENINGS_WAIT_MS_MAX = 200;

/**
 * Whoever had opened a period and noted it, or not, has committed once this returns; whoever opens one later sees all alerts that are there by
 * now, so nobody is held off any longer. Throws what Postgres says where that takes too long ({@link isLockTimeout}), which is before it looks
 * for a deadlock.
 */
export async function awaitOpenings(transaction: Queries, organizationId: string): Promise<void> {
  await sql`SAVEPOINT before_openings`.execute(transaction);
  await sql`SELECT set_config('lock_timeout', ${String(OPENINGS_WAIT_MS_MAX)}, true)`.execute(transaction);
  await sql`SELECT pg_advisory_xact_lock(${OPENING_LOCK}, uuid_hash(${organizationId}::uuid))`.execute(transaction);
  // Lets the lock go, and has lock_timeout be what it was.
  await sql`ROLLBACK TO SAVEPOINT before_openings`.execute(transaction);
  await sql`RELEASE SAVEPOINT before_openings`.execute(transaction);
}

/** A change that was noted. */
interface TouchedRow {
  id: string;
  customer_external_id: string;
  meter_id: string | null;
  after_subscription_id: string | null;
  touched_at: string;
}

/** Changes of one customer. */
export interface TouchedCustomer {
  /** The oldest first. */
  rows: TouchedRow[];
  meterIds: Set<string>;
  /** Whether it may be any meter, and what they cost. */
  isAny: boolean;
  /** Subscriptions up to this one have been looked at; null: none, nor its months. */
  after: string | null;
}

/** What was taken: by customer, and since when the oldest of it has waited (ISO 8601). */
export interface TakenUsage {
  rows: number;
  /** Those that were looked at in part come last. */
  customers: Map<string, TouchedCustomer>;
  since: string | null;
}

/** Which changes of an organization to take. */
export interface Taking {
  /** So many rows at most, from this id on. */
  limit: number;
  from: string;
  /** Customers whose changes are left where they are, or the one whose are taken alone: all of them, or none and an error of the lock. */
  without?: readonly string[];
  only?: string;
}

/**
 * Takes what has waited longest of an organization and nobody else has in hand. It is gone when the transaction commits. A customer that was
 * looked at in part is gone on with where most of it is done, and what else was taken of it is noted again, to be looked at from the
 * beginning: so one that changes on and on has all of its subscriptions looked at nevertheless.
 */
export async function takeTouched(
  transaction: Queries,
  organizationId: string,
  { limit, from, without = [], only }: Taking,
): Promise<TakenUsage> {
  const { rows } = await sql<TouchedRow>`
    WITH taken AS (
      DELETE FROM touched_usage WHERE organization_id = ${organizationId}::uuid AND id = ANY (ARRAY(
        SELECT id FROM touched_usage WHERE organization_id = ${organizationId}::uuid AND id >= ${from}::bigint
          AND customer_external_id <> ALL (${without}::text[]) AND (${only ?? null}::text IS NULL OR customer_external_id = ${only ?? null})
        ORDER BY id LIMIT ${limit} FOR UPDATE ${only === undefined ? sql`SKIP LOCKED` : sql`NOWAIT`}))
      RETURNING id, customer_external_id, meter_id, after_subscription_id, touched_at
    )
    SELECT * FROM taken ORDER BY id`.execute(transaction);
  const whole = new Map<string, TouchedCustomer>();
  const parts = new Map<string, TouchedCustomer>();
  const later: TouchedRow[] = [];
  for (const [customer, own] of groupBy(rows, (row) => row.customer_external_id)) {
    const after = own.map((row) => row.after_subscription_id ?? '').reduce((one, other) => (one < other ? other : one));
    const isNow = (row: TouchedRow) => (row.after_subscription_id ?? '') === after;
    const now = own.filter(isNow);
    later.push(
      ...asOne(
        own.filter((row) => !isNow(row)),
        null,
      ),
    );
    const meterIds = new Set(now.flatMap(({ meter_id }) => meter_id ?? []));
    const isAny = now.some(({ meter_id }) => meter_id === null);
    (after === '' ? whole : parts).set(customer, { rows: now, meterIds, isAny, after: after === '' ? null : after });
  }
  await touchAgain(transaction, organizationId, later);
  return { rows: rows.length, customers: new Map([...whole, ...parts]), since: oldestOf(rows) };
}

/** One change of all meters in place of some, to be looked at behind a subscription. It is as old as the oldest. */
export function asOne([first, ...others]: readonly TouchedRow[], after: string | null): TouchedRow[] {
  if (first === undefined) return [];
  const touched_at = oldestOf([first, ...others]) ?? first.touched_at;
  return [{ ...first, meter_id: null, after_subscription_id: after, touched_at }];
}

function oldestOf(rows: readonly TouchedRow[]): string | null {
  return rows.reduce<string | null>(
    (oldest, { touched_at }) => (oldest === null || touched_at < oldest ? touched_at : oldest),
    null,
  );
}

/** More of one customer are not joined at once. */
const JOINED_MAX = 10_000;

/**
 * Has changes of a customer that waits be one of each meter, as old as the oldest: more come with each batch, and each look would pass over
 * all of them. They have new ids, so that looks begin behind what was taken before, however long they wait.
 */
export async function joinTouched(
  db: Queries,
  organizationId: string,
  { from, customer }: { from: string; customer: string },
): Promise<void> {
  await sql`
    WITH taken AS (
      DELETE FROM touched_usage WHERE organization_id = ${organizationId}::uuid AND id = ANY (ARRAY(
        SELECT id FROM touched_usage WHERE organization_id = ${organizationId}::uuid AND id >= ${from}::bigint
          AND customer_external_id = ${customer}
        ORDER BY id LIMIT ${JOINED_MAX} FOR UPDATE SKIP LOCKED))
      RETURNING meter_id, after_subscription_id, touched_at
    )
    INSERT INTO touched_usage (organization_id, customer_external_id, meter_id, after_subscription_id, touched_at)
    SELECT ${organizationId}::uuid, ${customer}, meter_id, after_subscription_id, min(touched_at)
    FROM taken GROUP BY meter_id, after_subscription_id`.execute(db);
}

/** Notes again what was taken and is not looked at yet. It keeps its place among what waits. */
export async function touchAgain(
  transaction: Queries,
  organizationId: string,
  rows: readonly TouchedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const column = (of: (row: TouchedRow) => string | null) => rows.map(of);
  await sql`
    INSERT INTO touched_usage (organization_id, id, customer_external_id, meter_id, after_subscription_id, touched_at)
    OVERRIDING SYSTEM VALUE
    SELECT ${organizationId}::uuid, again.*
    FROM unnest(${column(({ id }) => id)}::bigint[], ${column((row) => row.customer_external_id)}::text[],
      ${column((row) => row.meter_id)}::uuid[], ${column((row) => row.after_subscription_id)}::uuid[],
      ${column((row) => row.touched_at)}::timestamptz[]) AS again (id, customer, meter, after, since)`.execute(
    transaction,
  );
}
