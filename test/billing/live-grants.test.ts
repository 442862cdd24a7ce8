// How many grants a customer has, and what they cost: those that invoices may draw are limited, and those that have expired are not read.

import { COMPUTED_BYTES_MAX, GRANT_BYTES } from '@weir/billing/chunk-weight';
import { countLiveGrants } from '@weir/db/billing/credits/credits';
import { cutByWeight } from '@weir/db/billing/invoices/cut-by-weight';
import { finalizeInvoices } from '@weir/db/billing/run/finalize';
import { LIMITS } from '@weir/shared/limits';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertSubscriptionRow } from '../support/billing-fixture.ts';
import { insertDraftRow } from '../support/billing-rows.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { until } from '../support/harness.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let billing: Invoicing;
beforeAll(async () => {
  billing = await startInvoicing(weir);
});
afterAll(() => billing.close());

/** As many grants as nobody wants to ask for one after the other. */
async function insertGrants(customer: string, count: number, fields: Record<string, string> = {}): Promise<void> {
  const row = { currency: 'USD', amount: '0.01', remaining: '0.01', created_at: '2024-12-01', ...fields };
  await weir.pool.query(
    `INSERT INTO credit_grants (organization_id, id, customer_id, currency, amount, remaining, expires_at, created_at)
     SELECT $1::uuid, gen_random_uuid(), $2::uuid, currency, amount, remaining, expires_at, created_at
     FROM jsonb_populate_record(NULL::credit_grants, $3::jsonb) CROSS JOIN generate_series(1, $4::integer)`,
    [billing.admin.id, customer, row, count],
  );
}

const grant = (customer: string, fields: object = {}) =>
  billing.request('POST', `/customers/${customer}/credits`, { amount: '0.01', currency: 'USD', ...fields });

describe('the grants of a customer', () => {
  test(`are ${LIMITS.liveGrants} in one currency at most that have something left and have not expired`, async () => {
    const { id } = await billing.customer();
    await insertGrants(id, LIMITS.liveGrants - 1, { expires_at: '2026-01-01' });
    await insertGrants(id, 10, { expires_at: '2024-12-30' });
    await insertGrants(id, 10, { remaining: '0' });
    const last = await grant(id, { external_id: 'the last one' });
    expect(last.status).toBe(201);
    const refused = await grant(id);
    expectProblem(refused, 422, 'invalid_request');
    expect(refused.body.errors).toEqual([
      { path: '', message: expect.stringContaining(`more than ${LIMITS.liveGrants} grants of the customer`) },
    ]);
    // It is there already.
    expectProblem(await grant(id, { external_id: 'the last one' }), 409, 'external_id_taken');
    expect((await grant(id, { currency: 'EUR' })).status).toBe(201);
    expect((await grant((await billing.customer()).id)).status).toBe(201);
    await billing.post(`/credits/${last.body.id}/void`);
    expect((await grant(id)).status).toBe(201);
    expect((await grant(id)).status).toBe(422);
  });

  test('are counted one after the other where two are granted at once', async () => {
    const { id } = await billing.customer();
    await insertGrants(id, LIMITS.liveGrants - 1);
    const holder = await weir.pool.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM customers WHERE id = $1 FOR NO KEY UPDATE', [id]);
    const both = [grant(id), grant(id)];
    await until(async () => {
      const { rowCount } = await weir.pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rowCount === 2;
    }, 'both wait for the customer');
    await holder.query('COMMIT');
    holder.release();
    const statuses = (await Promise.all(both)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 422]);
  });

  test('are more where invoices below zero give them', async () => {
    const { id } = await billing.customer();
    const plan = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '31' }]);
    await billing.moveTo('2025-01-10T12:00:00Z');
    const subscription = await billing.subscribe(plan.id, id, { start_date: '2025-01-01T00:00:00Z' });
    const [paid] = await billing.finalizeAll(subscription.id);
    await billing.post(`/invoices/${paid.id}/pay`);
    await insertGrants(id, LIMITS.liveGrants);
    await billing.post(`/subscriptions/${subscription.id}/cancel`, { cancel_at_period_end: false });
    expect(await billing.finalizeAll(subscription.id)).toMatchObject([{ total: '-21.00' }]);
    expect(await billing.get(`/customers/${id}/credits`)).toMatchObject({ balance: { USD: '31.00' } });
  });
});

test('drafts of customers with many grants are cut into more chunks, and a customer counts once', async () => {
  const { id: planId } = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '31' }]);
  /** So many drafts of a customer whose grants fill a third of a chunk. */
  const draftsOf = async (count: number): Promise<string[]> => {
    const customer = await billing.customer();
    await insertGrants(customer.id, COMPUTED_BYTES_MAX / GRANT_BYTES / 3);
    const drafts: string[] = [];
    while (drafts.length < count) {
      const subscriptionId = await insertSubscriptionRow(weir.pool, billing.admin.id, { planId, customer });
      const row = { organizationId: billing.admin.id, subscriptionId, customerId: customer.id };
      drafts.push(await insertDraftRow(weir.pool, row));
    }
    return drafts;
  };
  const cut = async (drafts: string[]) => {
    const chunks = await cutByWeight(billing.database.kysely, billing.admin.id, drafts);
    expect(chunks.flat()).toEqual(drafts);
    return chunks.map(({ length }) => length);
  };
  const ofSeven = [];
  while (ofSeven.length < 7) ofSeven.push(...(await draftsOf(1)));
  expect(await cut(ofSeven)).toEqual([3, 3, 1]);
  expect(await cut(await draftsOf(7))).toEqual([7]);
});

/** When Postgres has looked at the table: how many grants there were. */
describe.each([
  ['before there was any', 0],
  ['when there was one hundredth', 500],
])('looked at %s', (_title, known) => {
  const own = ownWeir({ withWorker: false, unobserved: true });
  let ours: Invoicing;
  const MANY = 50_000;
  beforeAll(async () => {
    ours = await startInvoicing(own);
  });
  afterAll(() => ours.close());

  test('grants that have expired, or are of another currency, are neither read nor held', async () => {
    const plan = await ours.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '31' }]);
    await ours.moveTo('2025-01-10T12:00:00Z');
    const { id: customer } = await ours.customer();
    const { id } = await ours.subscribe(plan.id, customer, { start_date: '2025-01-01T00:00:00Z' });
    const [draft] = await ours.drafts(id);
    const client = await own.pool.connect();
    // The checks of what they refer to would read as many rows.
    await client.query('SET session_replication_role = replica');
    const insert = (count: number, currency: string, expires: string | null) =>
      client.query(
        `INSERT INTO credit_grants (organization_id, id, customer_id, currency, amount, remaining, expires_at, created_at)
         SELECT $1::uuid, gen_random_uuid(), $2::uuid, $3::text, 0.01, 0.01, $4::timestamptz, '2024-12-01'
         FROM generate_series(1, $5::integer)`,
        [ours.admin.id, customer, currency, expires, count],
      );
    if (known > 0) {
      await insert(known, 'USD', '2025-01-09');
      await insert(known, 'EUR', null);
      await own.pool.query('ANALYZE');
    }
    await insert(MANY, 'USD', '2025-01-09');
    await insert(MANY, 'EUR', null);
    await insert(1, 'USD', '2025-02-01');
    await client.query('RESET session_replication_role');
    client.release();
    const rows = await rowsReadBy(own, async (database) => {
      const options = { actor: 'weir', now: true };
      const { finalized } = await finalizeInvoices(database, ours.admin.id, [draft?.id ?? ''], options);
      expect(finalized).toEqual([draft?.id]);
    });
    expect(rows).toBeLessThan(1_000);
    expect(await ours.get(`/invoices/${draft?.id}`)).toMatchObject({ credits_applied: '0.01' });
    const held = await own.pool.query(`SELECT FROM credit_grants WHERE xmax::text <> '0'`);
    expect(held.rowCount).toBeLessThanOrEqual(1);
    const counted = await rowsReadBy(own, async ({ kysely }) => {
      const live = { customerId: customer, currency: 'USD', max: LIMITS.liveGrants };
      expect(await countLiveGrants(kysely, ours.admin.id, live)).toBe(0);
    });
    expect(counted).toBeLessThan(1_000);
  });
});
