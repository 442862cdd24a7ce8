// A Weir whose billing stands still at an instant until a test moves it, and whose run is a call: what plans, customers and
// subscriptions a test needs is made in one line each.

import type { Database } from '@weir/db/database';
import { openPeriods } from '@weir/db/billing/subscriptions/open-periods';
import { randomBytes } from 'node:crypto';
import { setBillingTime } from './billing-time.ts';
import { openTestDatabase } from './test-database.ts';
import { signUp, startWeir, type Answer, type Organization, type Weir } from './harness.ts';

/** A charge as a row: the fields of its terms, and the meter that it prices. */
export interface TestCharge {
  terms: { type: 'FIXED' | 'USAGE' } & Record<string, unknown>;
  meterId?: string;
  name?: string;
}

export interface Billing {
  weir: Weir;
  admin: Organization;
  database: Database;
  /** Lets billing stand still at this instant. */
  at(instant: string): Promise<void>;
  /** Opens all that has begun, as the run does, of every organization. */
  run(): Promise<void>;
  ask(method: string, path: string, body?: object): Promise<Answer>;
  /** The same, where the answer has to be a success. */
  get(path: string): Promise<Answer['body']>;
  post(path: string, body?: object): Promise<Answer['body']>;
  customer(timeZone?: string): Promise<{ id: string; external_id: string }>;
  plan(fields?: object, charges?: TestCharge[]): Promise<string>;
  charge(planId: string, charge: TestCharge): Promise<string>;
  endCharge(id: string): Promise<void>;
  /** A meter that counts, as priced by one for each unit. */
  usage(meterId: string): TestCharge;
  rows(sql: string, ...values: unknown[]): Promise<Record<string, unknown>[]>;
  invoices(subscriptionId: string): Promise<Record<string, unknown>[]>;
  dues(subscriptionId: string): Promise<Record<string, unknown>[]>;
  /** The types of what the feed tells, oldest first; of one subscription where that is given. */
  feed(subscriptionId?: string): Promise<string[]>;
  close(): Promise<void>;
}

export const FIXED: TestCharge = { terms: { type: 'FIXED', timing: 'in_advance', unit_price: '31' }, name: 'Base' };
export const IN_ARREARS: TestCharge = {
  terms: { type: 'FIXED', timing: 'in_arrears', unit_price: '10' },
  name: 'Seat',
};

export async function startBilling(at: string): Promise<Billing> {
  const weir = await startWeir({ withWorker: false });
  const admin = await signUp(weir);
  const database = openTestDatabase(weir);
  await setBillingTime(weir.pool, at);
  const rows = async (sql: string, ...values: unknown[]) =>
    (await database.pool.query<Record<string, unknown>>(sql, values)).rows;
  const { ask, call } = admin;
  const charge = async (planId: string, { terms, meterId, name = 'Charge' }: TestCharge) => {
    const [row] = await rows(
      `INSERT INTO charges (organization_id, id, plan_id, display_name, type, meter_id, terms)
       VALUES ($1, gen_random_uuid(), $2, $3, $4, $5, $6) RETURNING id`,
      admin.id,
      planId,
      name,
      terms.type,
      meterId ?? null,
      JSON.stringify(terms),
    );
    return String(row?.['id']);
  };
  return {
    weir,
    admin,
    database,
    at: (instant) => setBillingTime(weir.pool, instant),
    run: () => openDue(database),
    ask,
    rows,
    charge,
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    async customer(timeZone) {
      const customer = await call('POST', '/customers', { external_id: `c-${randomBytes(6).toString('hex')}` });
      await rows('UPDATE customers SET time_zone = $2 WHERE id = $1', customer.id, timeZone ?? null);
      return customer;
    },
    async plan(fields = {}, charges = [FIXED]) {
      const plan = await call('POST', '/plans', {
        name: 'Pro',
        lookup_id: randomBytes(8).toString('hex'),
        type: 'HYBRID',
        billing_interval: 'month',
        currency: 'EUR',
        ...fields,
      });
      for (const each of charges) await charge(plan.id, each);
      return plan.id;
    },
    async endCharge(id) {
      await rows('UPDATE charges SET ended_at = billing_now() WHERE id = $1', id);
    },
    usage: (meterId) => ({ meterId, name: 'Calls', terms: { type: 'USAGE', model: 'per_unit', unit_price: '1' } }),
    invoices: (id) =>
      rows(
        `SELECT cycle, kind, status, period_start, period_end, finalizes_at FROM invoices
         WHERE subscription_id = $1 ORDER BY id`,
        id,
      ),
    dues: (id) =>
      rows(
        `SELECT cycle, display_name, period_start, period_end, days_in_force || '/' || days_in_period AS days
         FROM dues WHERE subscription_id = $1 ORDER BY cycle, display_name`,
        id,
      ),
    feed: async (id) => {
      const told = await rows(
        `SELECT type FROM billing_events
         WHERE $1::text IS NULL OR $1 IN (data ->> 'id', data ->> 'subscription_id') ORDER BY sequence`,
        id ?? null,
      );
      return told.map(({ type }) => String(type));
    },
    async close() {
      await database.close();
      await weir.close();
    },
  };
}

/** What the run does at boundaries: it locks what is due, passing over what somebody else has in hand, and opens it. */
export async function openDue(database: Database): Promise<void> {
  await database.kysely.transaction().execute(async (transaction) => {
    const due = await transaction
      .selectFrom('subscriptions')
      .select(['organization_id', 'id'])
      .where(({ eb, fn }) => eb('run_at', '<=', fn<string>('billing_now')))
      .orderBy('id')
      .forUpdate()
      .skipLocked()
      .execute();
    for (const organizationId of new Set(due.map((row) => row.organization_id))) {
      const own = due.filter((row) => row.organization_id === organizationId);
      await openPeriods(
        transaction,
        organizationId,
        own.map(({ id }) => id),
      );
    }
  });
}
