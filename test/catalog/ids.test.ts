// An id names its thing in capitals as well, wherever it stands; and an event has its receipt whatever the clock said when
// it came in.

import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { signUp, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let apiKey: string;
let meter: { id: string; token: string; featureId: string };
beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
  meter = await admin.createMeter('SUM');
});
afterEach(() => vi.useRealTimers());

async function track(baseUrl = weir.baseUrl): Promise<string> {
  const body = { meter_token: meter.token, customer_external_id: 'acme', quantity: 1 };
  const { status, body: accepted } = await weir.request('POST', '/api/v1/sdk/track', { apiKey, body, baseUrl });
  expect(status).toBe(201);
  return accepted.id;
}

test('a receipt is found under the id in capitals, while the event is queued and after', async () => {
  const id = await track();
  const read = () => admin.ask('GET', `/events/${id.toUpperCase()}`);
  expect((await read()).body).toMatchObject({ id, status: 'queued' });
  const replayed = await admin.ask('POST', `/events/${id.toUpperCase()}/replay`);
  expect([replayed.status, replayed.body.detail]).toEqual([409, expect.stringContaining('queued')]);
  const worker = await weir.startWorker();
  await weir.drained();
  await worker.close();
  expect((await read()).body).toMatchObject({ id, status: 'recorded' });
});

test('an API key that is deleted by its id in capitals is revoked like any other', async () => {
  const { id, key } = (await admin.ask('POST', '/api-keys', { name: 'to go', scopes: ['usage.write'] })).body;
  const body = { meter_token: meter.token, customer_external_id: 'acme', quantity: 1 };
  expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey: key, body })).status).toBe(201);
  expect((await admin.ask('DELETE', `/api-keys/${id.toUpperCase()}`)).status).toBe(204);
  expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey: key, body })).status).toBe(401);
});

test('ids in queries and bodies may be in capitals too', async () => {
  const customer = (await admin.ask('POST', '/customers', { external_id: 'acme' })).body;
  const upper = { meter: meter.id.toUpperCase(), customer: customer.id.toUpperCase() };
  const fields = { name: 'Pro', lookup_id: 'pro', type: 'HYBRID', billing_interval: 'month', currency: 'USD' };
  const plan = (await admin.ask('POST', '/plans', fields)).body;
  const feature = { feature_id: meter.featureId.toUpperCase(), is_enabled: true };
  const added = await admin.ask('POST', `/plans/${plan.id.toUpperCase()}/features`, feature);
  expect([added.status, added.body.feature_id]).toEqual([201, meter.featureId]);
  for (const path of [
    `/meters/${upper.meter}/usage?customer_id=${upper.customer}`,
    `/events?meter_id=${upper.meter}&cursor=${upper.customer}`,
    `/customers/${upper.customer}/usage`,
  ])
    expect([path, (await admin.ask('GET', path)).status]).toEqual([path, 200]);
});

test('an event that came in under a clock that was ahead has its receipt, and a list goes on past it', async () => {
  const earlier = await track();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 5 * 86_400_000 });
  // A process of its own, which has no batch open from before.
  const { url } = await weir.startApi();
  const ahead = await track(url);
  vi.useRealTimers();
  expect((await admin.ask('GET', `/events/${ahead}`)).body).toMatchObject({ id: ahead, status: 'queued' });
  const worker = await weir.startWorker();
  await weir.drained();
  await worker.close();
  expect((await admin.ask('GET', `/events/${ahead}`)).body).toMatchObject({ id: ahead, status: 'recorded' });
  const first = (await admin.ask('GET', '/events?limit=1')).body;
  expect(first).toMatchObject({ data: [{ id: ahead }], meta: { next_cursor: ahead } });
  const next = await admin.ask('GET', `/events?limit=1&cursor=${ahead}`);
  expect([next.status, next.body.data[0]?.id]).toEqual([200, earlier]);
});
