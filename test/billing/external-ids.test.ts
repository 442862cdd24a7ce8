// An external_id is what events name a customer by. One that somebody was billed under is not given to another customer: of what came
// late for the one, the other would be billed.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeAlert } from '../support/alerting.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until } from '../support/harness.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Invoicing;
let meter: PricedMeter;
let plan: string;

beforeEach(async () => {
  billing = await startInvoicing(weir);
  meter = await billing.meter('SUM');
  const charge = { type: 'USAGE', display_name: 'Calls', meter_id: meter.id, unit_price: '1' };
  plan = (await billing.plan([charge])).id;
  await billing.moveTo('2025-01-01T00:00:00Z');
});
afterEach(() => billing.close());

const rename = (id: string, external_id: string) => billing.request('PATCH', `/customers/${id}`, { external_id });
const create = (external_id: string) => billing.request('POST', '/customers', { external_id });

/** A customer who was billed under this name in January, and is not any more. */
async function makeFormer(external_id: string): Promise<{ id: string; subscription: string }> {
  const { id } = await billing.customer({ external_id });
  const { id: subscription } = await billing.subscribe(plan, id);
  await billing.moveTo('2025-01-15T00:00:00Z', subscription);
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
  await billing.finalizeAll(subscription);
  return { id, subscription };
}

test('what a former customer was billed under can be renamed, and is not given to a successor', async () => {
  const former = await makeFormer('acme');
  expect((await rename(former.id, 'acme-old')).status).toBe(200);
  const successor = await billing.customer({ external_id: 'acme-new' });
  for (const answer of [await create('acme'), await rename(successor.id, 'acme')]) {
    expectProblem(answer, 409, 'external_id_billed');
    expect(answer.body.id).toBe(former.id);
  }
  expect((await billing.get(`/customers/${successor.id}`)).external_id).toBe('acme-new');
  expect((await billing.get('/customers?external_id=acme')).data).toEqual([]);
  // So an event of this name is billed to nobody but the one it was billed to.
  await billing.track([{ meter, customer: 'acme', quantity: 5, at: '2025-01-10T00:00:00Z' }]);
  const { invoice } = await billing.post(`/subscriptions/${former.subscription}/settle`, undefined, 201);
  expect(invoice).toMatchObject({ customer_id: former.id, total: '5.00' });
});

test('a refusal of an external_id holds up no recording, where alerts watch the customer', async () => {
  expect((await rename((await makeFormer('acme')).id, 'acme-old')).status).toBe(200);
  const { id: customer_id } = await billing.customer();
  await makeAlert(billing, { meter_id: meter.id, customer_id }, [10]);
  const client = await weir.pool.connect();
  try {
    // As a batch that is being recorded.
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock_shared(20002, closing_slot($1))', [billing.admin.id]);
    expectProblem(await rename(customer_id, 'acme'), 409, 'external_id_billed');
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
});

test('the one who was billed under it may have it again, and others of its kind are free', async () => {
  const former = await makeFormer('acme');
  expect((await rename(former.id, 'other')).status).toBe(200);
  expect((await rename(former.id, 'acme')).status).toBe(200);
  // Nothing was billed under this one.
  expect((await create('other')).status).toBe(201);
  const { session } = await signUp(weir);
  const elsewhere = await weir.request('POST', '/api/v1/customers', { session, body: { external_id: 'acme' } });
  expect(elsewhere.status).toBe(201);
});

test('a customer that was never billed leaves its external_id free, also when it is deleted', async () => {
  const { id } = await billing.customer({ external_id: 'free' });
  const { id: subscription } = await billing.subscribe(plan, id, { trial_end_date: '2025-03-01' });
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
  expect((await rename(id, 'renamed')).status).toBe(200);
  expect((await create('free')).status).toBe(201);
  const { id: deleted } = await billing.customer({ external_id: 'gone' });
  expect((await billing.request('DELETE', `/customers/${deleted}`)).status).toBe(204);
  expect((await create('gone')).status).toBe(201);
});

test('whoever takes it in the moment that the former customer lets go of it does not get it', async () => {
  const former = await makeFormer('acme');
  const other = await billing.customer({ external_id: 'other' });
  for (const take of [() => create('acme'), () => rename(other.id, 'acme')]) {
    const client = await weir.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('UPDATE customers SET external_id = $2 WHERE id = $1', [former.id, 'acme-old']);
      const answer = take();
      await until(async () => {
        const { rows } = await weir.pool.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rows.length > 0;
      }, 'a request waits for the external_id');
      await client.query('COMMIT');
      expectProblem(await answer, 409, 'external_id_billed');
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
    expect((await rename(former.id, 'acme')).status).toBe(200);
  }
});
