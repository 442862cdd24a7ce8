// An organization that bills, for the tests of invoices: plans with charges, customers who subscribe, usage of theirs, and the
// time of billing, which a test moves.

import { openDatabase, type Database } from '@weir/db/database';
import { openPeriods } from '@weir/db/billing/subscriptions/open-periods';
import type { AggregationType } from '@weir/shared/meter';
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { setBillingTime } from './billing-time.ts';
import { signUp, type Answer, type Organization, type Weir } from './harness.ts';

/** A meter that is priced, and how. */
export interface PricedMeter {
  id: string;
  token: string;
}

/** What a test of invoices does again and again. Everything goes over HTTP but the passing of time. */
export interface Invoicing {
  admin: Organization;
  database: Database;
  request(method: string, path: string, body?: object): Promise<Answer>;
  /** The body of a request that must be answered with this status, 200 where none is given. */
  // oxlint-disable-next-line typescript/no-explicit-any
  get(path: string, status?: number): Promise<any>;
  // oxlint-disable-next-line typescript/no-explicit-any
  post(path: string, body?: object, status?: number): Promise<any>;
  meter(aggregation?: AggregationType): Promise<PricedMeter>;
  /** A plan with these charges; returns its id and those of the charges. */
  plan(charges: object[], fields?: object): Promise<{ id: string; charges: string[] }>;
  customer(fields?: object): Promise<{ id: string; external_id: string }>;
  subscribe(plan: string, customer: string, fields?: object): Promise<{ id: string }>;
  /** Reports usage of a customer, and waits until it is recorded, `seconds` at most: 30 where nothing is said. */
  track(
    events: { meter: PricedMeter; customer: string; quantity: number; at: string; metadata?: object }[],
    seconds?: number,
  ): Promise<void>;
  /** Lets billing stand at an instant, and opens what has begun by then. */
  moveTo(at: string, ...subscriptions: string[]): Promise<void>;
  /** The drafts of a subscription, earliest first. */
  drafts(subscription: string): Promise<{ id: string; cycle: number | null }[]>;
  /** Finalizes all drafts of a subscription now, in order, and returns them. */
  // oxlint-disable-next-line typescript/no-explicit-any
  finalizeAll(subscription: string): Promise<any[]>;
  close(): Promise<void>;
}

/** Billing stands at the end of 2024 at first, so that what a test makes before its subscriptions is there when these begin. */
export async function startInvoicing(weir: Weir): Promise<Invoicing> {
  await setBillingTime(weir.pool, '2024-12-31T00:00:00Z');
  const admin = await signUp(weir);
  const apiKey = await admin.createKey();
  const database = openDatabase(weir.databaseUrl, {
    connectionsMax: 2,
    statementTimeoutMs: 30_000,
    onConnectionError: (error) => {
      throw error;
    },
  });
  const get: Invoicing['get'] = (path, status = 200) => admin.call('GET', path, undefined, status);
  const post: Invoicing['post'] = (path, body, status = 200) => admin.call('POST', path, body, status);
  const slug = () => randomBytes(6).toString('hex');

  const drafts: Invoicing['drafts'] = async (subscription) => {
    const { data } = await get(`/subscriptions/${subscription}/invoices?status=DRAFT&page_size=100`);
    return data.reverse();
  };
  return {
    admin,
    database,
    request: admin.ask,
    get,
    post,
    async meter(aggregation = 'SUM') {
      const { id, token } = await admin.createMeter(aggregation);
      return { id, token };
    },
    async plan(charges, fields) {
      const plan = { name: 'Plan', lookup_id: slug(), type: 'HYBRID', billing_interval: 'month', currency: 'USD' };
      const { id } = await post('/plans', { ...plan, ...fields }, 201);
      const made: string[] = [];
      for (const charge of charges) made.push((await post(`/plans/${id}/charges`, charge, 201)).id);
      return { id, charges: made };
    },
    customer: (fields) => post('/customers', { external_id: slug(), ...fields }, 201),
    subscribe: (plan_id, customer_id, fields) => post('/subscriptions', { plan_id, customer_id, ...fields }, 201),
    async track(events, seconds) {
      for (let from = 0; from < events.length; from += 100) {
        const body = {
          events: events.slice(from, from + 100).map(({ meter, customer, quantity, at, metadata }) => ({
            meter_token: meter.token,
            customer_external_id: customer,
            quantity,
            timestamp: at,
            ...(metadata !== undefined && { metadata }),
          })),
        };
        const answer = await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, body });
        expect(answer.body.data.map(({ status }: { status: number }) => status)).toEqual(body.events.map(() => 201));
      }
      await weir.drained(seconds);
    },
    async moveTo(at, ...subscriptions) {
      await setBillingTime(weir.pool, at);
      if (subscriptions.length === 0) return;
      await database.kysely.transaction().execute(async (transaction) => {
        await transaction
          .selectFrom('subscriptions')
          .select('id')
          .where('organization_id', '=', admin.id)
          .where('id', 'in', subscriptions)
          .orderBy('id')
          .forUpdate()
          .execute();
        await openPeriods(transaction, admin.id, subscriptions);
      });
    },
    drafts,
    async finalizeAll(subscription) {
      const finalized = [];
      for (const { id } of await drafts(subscription)) finalized.push(await post(`/invoices/${id}/finalize`));
      return finalized;
    },
    close: () => database.close(),
  };
}

/** An organization with a customer who subscribes to a plan of 10.00 a month in advance and 0.015 for each unit used. */
export interface Billed extends Invoicing {
  ownMeter: PricedMeter;
  ownPlan: { id: string; charges: string[] };
  ownCustomer: { id: string; external_id: string };
  subscription: string;
  use(quantity: number, at: string): Promise<void>;
  /** The earliest draft. */
  draft(): Promise<{ id: string }>;
  /** The invoice of cycle 0, which is OPEN over 10.00. */
  open(): Promise<{ id: string; status: string }>;
  /** What the feed says of a thing, oldest first. */
  feedOf(id: string): Promise<{ type: string; actor: string; data: Record<string, unknown> }[]>;
  /** The admin, as the feed says it. */
  actor(): Promise<string>;
}

/** The subscription begins on 1 January 2025, and it is 00:10 of 1 February: cycle 0 is finalized, and cycle 1 a draft. */
export async function startBilled(weir: Weir): Promise<Billed> {
  const billing = await startInvoicing(weir);
  const organization = billing.admin.id;
  const ownMeter = await billing.meter('SUM');
  const ownPlan = await billing.plan([
    { type: 'FIXED', display_name: 'Base', unit_price: '10' },
    { type: 'USAGE', display_name: 'Calls', meter_id: ownMeter.id, unit_price: '0.015' },
  ]);
  await billing.moveTo('2025-01-01T00:10:00Z');
  const ownCustomer = await billing.customer({ name: 'Acme', billing_address_city: 'Oslo' });
  const start = { start_date: '2025-01-01T00:00:00Z' };
  const { id: subscription } = await billing.subscribe(ownPlan.id, ownCustomer.id, start);
  await billing.finalizeAll(subscription);
  await billing.moveTo('2025-02-01T00:10:00Z', subscription);
  return {
    ...billing,
    ownMeter,
    ownPlan,
    ownCustomer,
    subscription,
    use: (quantity, at) => billing.track([{ meter: ownMeter, customer: ownCustomer.external_id, quantity, at }]),
    async draft() {
      const [first] = await billing.drafts(subscription);
      if (first === undefined) throw new Error('there is no draft');
      return first;
    },
    open: async () => (await billing.get(`/subscriptions/${subscription}/invoices?status=OPEN`)).data[0],
    async feedOf(id) {
      const feed = `SELECT type, actor, data FROM billing_events
        WHERE organization_id = $1 AND data ->> 'id' = $2 ORDER BY sequence`;
      return (await weir.pool.query(feed, [organization, id])).rows;
    },
    async actor() {
      const { rows } = await weir.pool.query('SELECT id FROM users WHERE organization_id = $1', [organization]);
      return `user:${rows[0].id}`;
    },
  };
}
