import { beforeAll, expect, test } from 'vitest';
import { signUp, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let organization: Organization;

beforeAll(async () => {
  organization = await signUp(weir);
});

test('an event that was accepted is held by its key also once its meter is archived, by any process', async () => {
  const { session } = organization;
  const made = { session, body: { name: 'To be deleted', scopes: ['usage.write'] } };
  const { id: keyId, key: apiKey } = (await weir.request('POST', '/api/v1/api-keys', made)).body;
  const meter = await organization.createMeter('SUM');
  const event = { meter_token: meter.token, customer_external_id: 'acme', quantity: 1 };
  const send = (body: object, baseUrl: string, path = 'track') =>
    weir.request('POST', `/api/v1/sdk/${path}`, { apiKey, baseUrl, body });
  const accepted = await send({ ...event, idempotency_key: 'sent' }, weir.baseUrl);
  expect(accepted.status).toBe(201);
  await organization.call('PATCH', `/meters/${meter.id}`, { status: 'ARCHIVED' });

  // One that remembers no meter.
  const { url } = await weir.startApi();
  const { id } = accepted.body;
  const told: [object, object][] = [
    [
      { ...event, idempotency_key: 'sent' },
      { status: 409, code: 'duplicate_event', id },
    ],
    [
      { ...event, idempotency_key: 'sent', quantity: 2 },
      { status: 422, code: 'idempotency_key_reused', id },
    ],
    [
      { ...event, idempotency_key: 'new' },
      { status: 422, code: 'meter_archived' },
    ],
    [event, { status: 422, code: 'meter_archived' }],
    [
      { ...event, idempotency_key: 'sent', quantity: 0 },
      { status: 422, code: 'invalid_request' },
    ],
  ];
  for (const [body, answer] of told) expect((await send(body, url)).body).toMatchObject(answer);
  const batch = await send({ events: told.map(([body]) => body) }, url, 'track/batch');
  expect(batch).toMatchObject({ status: 207, body: { data: told.map(([, answer]) => answer) } });
  expect(await weir.stagedEvents()).toBe(1);

  await weir.request('DELETE', `/api/v1/api-keys/${keyId}`, { session });
  for (const [body] of told) expect((await send(body, url)).status).toBe(401);
});
