// An organization that bills, for the tests of invoices: plans with charges, customers who subscribe, usage of theirs, and the
// time of billing, which a test moves.

import { openDatabase, type Database } from '@weir/db/database';
import { openPeriods } from '@weir/db/billing/open-periods';
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
  /** Reports usage of a customer, and waits until it is recorded. */
  track(
    events: { meter: PricedMeter; customer: string; quantity: number; at: string; metadata?: object }[],
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
  const request: Invoicing['request'] = (method, path, body) =>
    weir.request(method, `/api/v1${path}`, { session: admin.session, ...(body !== undefined && { body }) });
  const get: Invoicing['get'] = async (path, status = 200) => bodyOf(await request('GET', path), status);
  const post: Invoicing['post'] = async (path, body, status = 200) => bodyOf(await request('POST', path, body), status);
  const slug = () => randomBytes(6).toString('hex');

  const drafts: Invoicing['drafts'] = async (subscription) => {
    const { data } = await get(`/subscriptions/${subscription}/invoices?status=DRAFT&page_size=100`);
    return data.reverse();
  };
  return {
    admin,
    database,
    request,
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
    async track(events) {
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
      await weir.drained();
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

function bodyOf(answer: Answer, status: number) {
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status });
  return answer.body;
}
