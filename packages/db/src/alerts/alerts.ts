// Alerts, as admins see and change them. What crosses their thresholds is found by perform-alerts.ts.

import { newId } from '@weir/shared/ids';
import { sql } from 'kysely';
import type { Queries } from '../database.ts';
import { makeRecordersLookAgain } from '../known-for-recording.ts';
import { alsoOf, ofCustomer } from '../of-organization.ts';
import { NEWEST_FIRST } from '../order.ts';
import { countRows, hasDone, mapPage, selectPage, type Page, type PageOf } from '../page.ts';
import type { AlertStatus } from './alert-tables.ts';

export interface Alert {
  id: string;
  name: string;
  /** Null: it watches what open periods come to. */
  meter_id: string | null;
  subscription_amount: boolean;
  /** Null: all customers. */
  customer_id: string | null;
  /** Plain decimals, rising. */
  thresholds: string[];
  status: AlertStatus;
  created_at: string;
}

export interface NewAlert {
  name: string;
  /** Null: what open periods come to. */
  meter_id: string | null;
  customer_id: string | null;
  thresholds: string[];
}

/** The fields of an alert that a person changes. */
export interface AlertChanges {
  name?: string | undefined;
  thresholds?: string[] | undefined;
  status?: AlertStatus | undefined;
}

/** How many an organization has, but for deleted ones. */
export async function countAlerts(db: Queries, organizationId: string): Promise<number> {
  return await countRows(
    db.selectFrom('alerts').where('organization_id', '=', organizationId).where('status', '<>', 'DELETED'),
  );
}

/**
 * Makes an alert, which also looks at what there is already. The last thing of a transaction: nothing is recorded of the organization
 * from here to its end. Throws what Postgres says, also when it would have to wait for seconds.
 */
export async function insertAlert(transaction: Queries, organizationId: string, alert: NewAlert): Promise<Alert> {
  const inserted = await transaction
    .insertInto('alerts')
    .values({ organization_id: organizationId, id: newId(), ...alert })
    .returning(columns)
    .executeTakeFirstOrThrow();
  await makeRecordersLookAgain(transaction, organizationId);
  return inserted;
}

/** Newest first. */
export async function listAlerts(db: Queries, organizationId: string, page: Page): Promise<PageOf<Alert>> {
  return await selectPage(visible(db, organizationId), NEWEST_FIRST, page);
}

export async function findAlert(db: Queries, organizationId: string, id: string): Promise<Alert | undefined> {
  return await visible(db, organizationId).where('id', '=', id).executeTakeFirst();
}

/**
 * Changes what is given, and returns the alert if there is such a one. With other thresholds, and turned on, it looks at what there is
 * already, as a new one does; given what it has, it goes on as it was. To be called as {@link insertAlert}.
 */
export async function updateAlert(
  transaction: Queries,
  organizationId: string,
  id: string,
  { name, thresholds, status }: AlertChanges,
): Promise<Alert | undefined> {
  // Turned off it keeps no place, which may be somebody's external id: turned on it looks at everything.
  const isOther = sql`(thresholds <> coalesce(${thresholds ?? null}::numeric[], thresholds) OR status <> coalesce(${status ?? null}::text, status))`;
  const orAsItIs = (value: string, column: 'looked_after' | 'look_asked_at' | 'told_from') =>
    sql<string>`CASE WHEN ${isOther} THEN ${sql.raw(value)} ELSE ${sql.ref(column)} END`;
  const updated = await transaction
    .updateTable('alerts')
    .set({
      ...(name !== undefined && { name }),
      ...(thresholds !== undefined && { thresholds }),
      ...(status !== undefined && { status }),
      looked_after: orAsItIs("''", 'looked_after'),
      look_asked_at: orAsItIs('billing_now()', 'look_asked_at'),
      told_from: orAsItIs('billing_now()', 'told_from'),
    })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('status', '<>', 'DELETED')
    .returning(columns)
    .executeTakeFirst();
  if (updated !== undefined && status === 'ACTIVE') await makeRecordersLookAgain(transaction, organizationId);
  return updated;
}

/**
 * Holds the alerts that watch one customer alone, until the transaction ends, in the order in which whoever writes down crossings holds
 * them. Returns whether there is any that is on.
 */
export async function holdAlertsOf(transaction: Queries, organizationId: string, customerId: string): Promise<boolean> {
  const held = await transaction
    .selectFrom('alerts')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('customer_id', '=', customerId)
    .where('status', '=', 'ACTIVE')
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  return held.length > 0;
}

/**
 * Has alerts that watch one customer alone, and are held, look at the usage of the external id that it has now. To be called as
 * {@link insertAlert}.
 */
export async function lookAtCustomer(transaction: Queries, organizationId: string, customerId: string): Promise<void> {
  await transaction
    .updateTable('alerts')
    .set({ looked_after: '', look_asked_at: sql<string>`billing_now()` })
    .where('organization_id', '=', organizationId)
    .where('customer_id', '=', customerId)
    .where('status', '=', 'ACTIVE')
    .execute();
  await makeRecordersLookAgain(transaction, organizationId);
}

/** Nothing crosses it any more from here on, and nobody sees it; a worker deletes what it crossed. Returns whether there was one. */
export async function deleteAlert(db: Queries, organizationId: string, id: string): Promise<boolean> {
  return await hasDone(
    db
      .updateTable('alerts')
      .set({ status: 'DELETED' })
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .where('status', '<>', 'DELETED'),
  );
}

/** The same for all that watch one customer alone, which may be named after it. Returns their ids. Needs a transaction. */
export async function deleteAlertsOf(
  transaction: Queries,
  organizationId: string,
  customerId: string,
): Promise<string[]> {
  await holdAlertsOf(transaction, organizationId, customerId);
  const deleted = await transaction
    .updateTable('alerts')
    .set({ status: 'DELETED', name: '' })
    .where('organization_id', '=', organizationId)
    .where('customer_id', '=', customerId)
    .returning('id')
    .execute();
  return deleted.map(({ id }) => id);
}

/** A threshold that was reached in a period. */
export interface Crossing {
  id: string;
  customer_external_id: string;
  /** Null, like the name, where usage came in for a customer that has no record. */
  customer_id: string | null;
  customer_name: string | null;
  /** Whose period it is; null: a month of the calendar. */
  subscription_id: string | null;
  /** Of an amount; null: usage. */
  currency: string | null;
  period_start: string;
  period_end: string;
  /** The clocks that the period goes by. */
  time_zone: string;
  threshold: string;
  /** What it had come to when a worker saw it. */
  value: string;
  crossed_at: string;
}

/** Newest first; undefined where there is no such alert. */
export async function listCrossings(
  db: Queries,
  organizationId: string,
  alertId: string,
  page: Page,
): Promise<PageOf<Crossing> | undefined> {
  if ((await findAlert(db, organizationId, alertId)) === undefined) return undefined;
  const query = db
    .selectFrom('alert_crossings')
    .select([
      'id',
      'customer_external_id',
      'customer_id',
      'subscription_id',
      'currency',
      'period_start',
      'period_end',
      sql<string>`coalesce(time_zone,
        (SELECT time_zone FROM subscriptions AS own
          WHERE own.organization_id = alert_crossings.organization_id AND own.id = subscription_id),
        (SELECT time_zone FROM organizations WHERE id = organization_id))`.as('time_zone'),
      'threshold',
      'value',
      'crossed_at',
    ])
    .where('alert_id', '=', alertId)
    .where(() => alsoOf(organizationId));
  const found = await selectPage(query, NEWEST_FIRST, page);
  const records = await findRecords(db, organizationId, found.rows);
  return mapPage(found, (row) => {
    const record = records.get(row.id);
    return { ...row, customer_id: record?.id ?? null, customer_name: record?.name ?? null };
  });
}

/** The records that crossings are of, by the ids of these: the one that crossed it, else one that has the external id by now. */
async function findRecords(
  db: Queries,
  organizationId: string,
  crossings: readonly Pick<Crossing, 'id' | 'customer_external_id' | 'customer_id'>[],
): Promise<Map<string, { id: string; name: string | null }>> {
  const own = sql`organization_id = ${organizationId}::uuid`;
  const { rows } = await sql<{ crossing: string; id: string; name: string | null }>`
    SELECT asked.crossing, found.id, found.name
    FROM unnest(${crossings.map(({ id }) => id)}::uuid[], ${crossings.map((each) => each.customer_external_id)}::text[],
      ${crossings.map(({ customer_id }) => customer_id)}::uuid[]) AS asked (crossing, external_id, customer_id)
    CROSS JOIN LATERAL (
      SELECT 1 AS place, id, name FROM customers WHERE ${own} AND id = asked.customer_id
      UNION ALL SELECT 2, id, name FROM customers WHERE ${ofCustomer(organizationId, 'customers.external_id', sql`asked.external_id`)}
      ORDER BY place LIMIT 1
    ) AS found`.execute(db);
  return new Map(rows.map(({ crossing, ...record }) => [crossing, record]));
}

/** The records of customers, by external id, where there are any. */
export async function findCustomers(
  db: Queries,
  organizationId: string,
  externalIds: ReadonlySet<string>,
): Promise<Map<string, { id: string; name: string | null }>> {
  const { rows } = await sql<{ external_id: string; id: string; name: string | null }>`
    SELECT asked.external_id, found.id, found.name FROM unnest(${[...externalIds]}::text[]) AS asked (external_id)
    CROSS JOIN LATERAL (
      SELECT id, name FROM customers WHERE ${ofCustomer(organizationId, 'customers.external_id', sql`asked.external_id`)} LIMIT 1
    ) AS found`.execute(db);
  return new Map(rows.map(({ external_id, ...customer }) => [external_id, customer]));
}

const columns = [
  'id',
  'name',
  'meter_id',
  sql<boolean>`meter_id IS NULL`.as('subscription_amount'),
  'customer_id',
  sql<string[]>`thresholds::text[]`.as('thresholds'),
  sql<AlertStatus>`status`.as('status'),
  'created_at',
] as const;

const visible = (db: Queries, organizationId: string) =>
  db
    .selectFrom('alerts')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('status', '<>', 'DELETED');
