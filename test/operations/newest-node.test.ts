// Weir on the newest LTS of Node, which the documents recommend. All other tests run on the Node that started them, in CI on each that
// is promised.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { makeCustomer, makePricedPlan, usageCharge } from '../support/billing-fixture.ts';
import { signUp, until, type Weir } from '../support/harness.ts';
import { findNewestNode } from '../support/newest-node.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let node: string;

beforeAll(async () => {
  node = await findNewestNode();
}, 300_000);

test('the newest LTS of Node takes events one by one and in batches, records and bills them', async () => {
  const { stdout: version } = await promisify(execFile)(node, ['--version']);
  expect(Number(/^v(\d+)/.exec(version)?.[1])).toBeGreaterThanOrEqual(26);
  const { url: baseUrl, child } = await weir.spawnApi({}, { node });
  expect(child.spawnfile).toBe(node);
  await weir.spawnWorker({ BILLING_CONCURRENCY: '1', BILLING_INTERVAL_MS: '200' }, { node });

  // All that is sent from here on is answered by it.
  const onIt: Weir = {
    ...weir,
    request: (method, path, options) => weir.request(method, path, { ...options, baseUrl }),
  };
  const admin = await signUp(onIt);
  const { call: send } = admin;
  const apiKey = await admin.createKey();
  const meter = await admin.createMeter('SUM');
  const plan = await makePricedPlan(onIt, admin, [usageCharge(meter.id)]);
  const { id: customer } = await makeCustomer(onIt, admin, { external_id: 'acme' });
  await send('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
  const { id } = await send('POST', '/subscriptions', { customer_id: customer, plan_id: plan.id });

  const event = { meter_token: meter.token, customer_external_id: 'acme', quantity: 0.1 };
  const single = { ...event, idempotency_key: 'single' };
  expect((await onIt.request('POST', '/api/v1/sdk/track', { apiKey, body: single })).status).toBe(201);
  expect((await onIt.request('POST', '/api/v1/sdk/track', { apiKey, body: single })).status).toBe(409);
  const events = Array.from({ length: 1_000 }, () => event);
  expect((await onIt.request('POST', '/api/v1/sdk/track/batch', { apiKey, body: { events } })).status).toBe(201);
  await weir.drained();
  expect(await send('GET', `/meters/${meter.id}/usage`)).toMatchObject({ total_usage: '100.1', event_count: 1_001 });

  await send('POST', `/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
  let invoices: { id: string; status: string; total: string }[] = [];
  await until(async () => {
    invoices = (await send('GET', `/subscriptions/${id}/invoices`)).data;
    return invoices.length > 0 && invoices.every(({ status }) => status !== 'DRAFT');
  }, 'the worker has finalized the invoice');
  expect(invoices).toMatchObject([{ status: 'OPEN', total: '50.05' }]);
  expect(await send('POST', `/invoices/${invoices[0]?.id}/recompute`, { from: 'events' })).toMatchObject({
    identical: true,
  });
}, 60_000);
