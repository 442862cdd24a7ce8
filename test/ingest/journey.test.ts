import { expect, test } from 'vitest';
import { signUp, until } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();

test('a new organization tracks an event, reads its count, and closes the door with its key', async () => {
  const admin = await signUp(weir);
  const meter = await admin.createMeter('SUM', 'tokens');

  const created = await admin.ask('POST', '/api-keys', { name: 'backend', scopes: ['usage.write', 'usage.read'] });
  expect(created.status).toBe(201);
  const apiKey: string = created.body.key;

  const tracked = await weir.request('POST', '/api/v1/sdk/track', {
    apiKey,
    body: { meter_token: meter.token, customer_external_id: 'acme', quantity: 82450, idempotency_key: 'invoice-1' },
  });
  expect(tracked.status).toBe(201);

  const readReceipt = () => weir.request('GET', `/api/v1/events/${tracked.body.id}`, { apiKey });
  await until(async () => (await readReceipt()).body.status === 'recorded', 'the event is recorded');

  const usage = await weir.request('GET', `/api/v1/meters/${meter.id}/usage`, { apiKey });
  expect(usage.body).toMatchObject({ total_usage: '82450', event_count: 1, unique_customers: 1, unit: 'tokens' });

  const deleted = await admin.ask('DELETE', `/api-keys/${created.body.id}`);
  expect(deleted.status).toBe(204);
  const refused = await weir.request('POST', '/api/v1/sdk/track', {
    apiKey,
    body: { meter_token: meter.token, customer_external_id: 'acme', quantity: 1 },
  });
  expect(refused.status).toBe(401);
});
