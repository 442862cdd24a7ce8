// What is shown of an API key beside its name: its end, and when it was used last. And that of the token of a service account.

import { openLastUse } from '@weir/api/access/last-use';
import { openDatabase } from '@weir/db/database';
import { createLog } from '@weir/shared/log';
import { beforeAll, expect, test } from 'vitest';
import { signUp, type Organization } from '../support/harness.ts';
import { makeServiceAccount } from '../support/service-accounts.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let admin: Organization;
let token: string;

beforeAll(async () => {
  admin = await signUp(weir);
  token = (await admin.createMeter('SUM')).token;
});

const create = async (scope = 'usage.write') => {
  const body = { name: 'x', scopes: [scope] };
  return (await weir.request('POST', '/api/v1/api-keys', { session: admin.session, body })).body;
};
const find = async (id: string) => {
  const { body } = await weir.request('GET', '/api/v1/api-keys?page_size=100', { session: admin.session });
  return body.data.find((each: { id: string }) => each.id === id);
};
const track = (apiKey: string, baseUrl: string) => {
  const body = { meter_token: token, customer_external_id: 'acme', quantity: 1 };
  return weir.request('POST', '/api/v1/sdk/track', { apiKey, baseUrl, body });
};

test('a key is shown with its last four characters, and one of before without', async () => {
  const created = await create();
  expect(created).toMatchObject({ last4: created.key.slice(-4), last_used_at: null });
  expect(await find(created.id)).toEqual(expect.objectContaining({ last4: created.last4, last_used_at: null }));
  await weir.pool.query('UPDATE api_keys SET last4 = NULL WHERE id = $1', [created.id]);
  expect((await find(created.id)).last4).toBeNull();
});

test('a use of a key or a token is written down, to the minute, at the latest when its process stops', async () => {
  const api = await weir.startApi();
  const [tracks, widgets, reads, unused, wrong] = [
    await create(),
    await create(),
    await create('usage.read'),
    await create(),
    await create('usage.read'),
  ];
  const from = Math.floor(Date.now() / 60_000) * 60_000;
  expect((await track(tracks.key, api.url)).status).toBe(201);
  const widget = { apiKey: widgets.key, baseUrl: api.url, body: { customer_external_id: 'acme' } };
  expect((await weir.request('POST', '/api/v1/widget/token', widget)).status).toBe(201);
  expect((await weir.request('GET', '/api/v1/meters', { apiKey: reads.key, baseUrl: api.url })).status).toBe(200);
  const [service, idle] = [
    await makeServiceAccount(weir, admin, 'viewer'),
    await makeServiceAccount(weir, admin, 'viewer'),
  ];
  expect((await weir.request('GET', '/api/v1/plans', { ...service.credential, baseUrl: api.url })).status).toBe(200);
  // Refused for its role, it opened nothing.
  expect(
    (await weir.request('POST', '/api/v1/customers', { ...idle.credential, baseUrl: api.url, body: {} })).status,
  ).toBe(403);
  // Refused for its scope, it opened nothing.
  expect((await track(wrong.key, api.url)).status).toBe(403);
  await api.close();
  const ofAccount = async ({ id }: { id: string }) => {
    const [account, tokens] = await Promise.all(
      [`/service-accounts/${id}`, `/service-accounts/${id}/tokens`].map((path) =>
        weir.request('GET', `/api/v1${path}`, { session: admin.session }),
      ),
    );
    expect(account?.body.last_used_at).toBe(tokens?.body.data[0].last_used_at);
    return account?.body.last_used_at;
  };
  expect(await ofAccount(idle)).toBeNull();
  const ofKeys = [tracks, widgets, reads].map(async ({ id }) => (await find(id)).last_used_at);
  for (const last of [...(await Promise.all(ofKeys)), await ofAccount(service)]) {
    const used = Date.parse(last);
    expect(used % 60_000).toBe(0);
    expect(used).toBeGreaterThanOrEqual(from);
    expect(used).toBeLessThanOrEqual(Date.now());
  }
  for (const { id } of [unused, wrong]) expect((await find(id)).last_used_at).toBeNull();
});

test('a use is written once, and is kept while Postgres cannot be asked', async () => {
  const { id } = await create();
  const options = { connectionsMax: 1, statementTimeoutMs: 1_000, onConnectionError: () => {} };
  const database = openDatabase(weir.databaseUrl, options);
  let isAway = true;
  let statements = 0;
  const pool = {
    query: (...args: Parameters<typeof database.pool.query>) => {
      statements += 1;
      return isAway ? Promise.reject(new Error('away')) : database.pool.query(...args);
    },
  } as unknown as typeof database.pool;
  const use = openLastUse({ ...database, pool }, 'api_keys', createLog('test', 'silent'));
  for (let request = 0; request < 1_000; request += 1) use.note(id, admin.id);
  await use.write();
  expect((await find(id)).last_used_at).toBeNull();
  isAway = false;
  await use.write();
  const first = (await find(id)).last_used_at;
  expect(first).not.toBeNull();
  await use.write();
  expect(statements).toBe(2);
  await use.close();
  await database.close();
});
