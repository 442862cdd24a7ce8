// Deleting an API key revokes it at once, on every process.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp, startWeir, type Organization, type Weir } from './harness.ts';

let weir: Weir;
let organization: Organization;
let session: string;

beforeAll(async () => {
  weir = await startWeir({ withWorker: false });
  organization = await signUp(weir);
  ({ session } = organization);
});
afterAll(() => weir.close());

async function createKey(): Promise<{ id: string; key: string }> {
  const body = { name: 'To be deleted', scopes: ['usage.write', 'usage.read'] };
  return (await weir.request('POST', '/api/v1/api-keys', { session, body })).body;
}

const track = (apiKey: string, meter_token: string, baseUrl: string) =>
  weir.request('POST', '/api/v1/sdk/track', {
    apiKey,
    baseUrl,
    body: { meter_token, customer_external_id: 'customer', quantity: 1 },
  });
const read = (apiKey: string, baseUrl: string) => weir.request('GET', '/api/v1/features', { apiKey, baseUrl });

async function stagedEvents(): Promise<number> {
  const batches = await weir.redis.zrange(weir.keys.staged, 0, '-1');
  const counts: number[] = await Promise.all(batches.map((batch) => weir.redis.hlen(weir.keys.batch(batch))));
  return counts.reduce((sum, count) => sum + count, 0);
}

test('after the 204 every request with the key gets 401, also on another process that had just used it', async () => {
  const { token } = await organization.createMeter('SUM');
  const other = await weir.spawnApi();
  const { id, key } = await createKey();
  for (const url of [weir.baseUrl, other.url]) {
    expect((await track(key, token, url)).status).toBe(201);
    expect((await read(key, url)).status).toBe(200);
  }
  expect((await weir.request('DELETE', `/api/v1/api-keys/${id}`, { session })).status).toBe(204);
  for (const url of [other.url, weir.baseUrl]) {
    // More than once: neither answer may depend on what the first one left in memory.
    for (let round = 0; round < 3; round += 1) {
      const tracked = await track(key, token, url);
      expect([tracked.status, tracked.body.code]).toEqual([401, 'unauthenticated']);
      expect((await read(key, url)).status).toBe(401);
    }
  }
  // One event from each process before the key was deleted, and none after.
  expect(await stagedEvents()).toBe(2);
  await other.stop();
});

test('a deleted key leaves the list, and cannot be deleted twice', async () => {
  const { id } = await createKey();
  const kept = await createKey();
  const deleted = await weir.request('DELETE', `/api/v1/api-keys/${id}`, { session });
  expect([deleted.status, deleted.body]).toEqual([204, '']);
  const { body } = await weir.request('GET', '/api/v1/api-keys', { session });
  const ids = body.data.map((key: { id: string }) => key.id);
  expect(ids).toContain(kept.id);
  expect(ids).not.toContain(id);
  const again = await weir.request('DELETE', `/api/v1/api-keys/${id}`, { session });
  expect([again.status, again.body.code]).toEqual([404, 'not_found']);
});

test('deleting one key leaves the others as they are', async () => {
  const { token } = await organization.createMeter('SUM');
  const [gone, kept] = [await createKey(), await createKey()];
  await weir.request('DELETE', `/api/v1/api-keys/${gone.id}`, { session });
  expect((await track(kept.key, token, weir.baseUrl)).status).toBe(201);
  expect((await read(kept.key, weir.baseUrl)).status).toBe(200);
});

test.each(['01890000-0000-7000-8000-000000000000', 'not-an-id', '1'])('the id %s names no key: 404', async (id) => {
  const { status, body } = await weir.request('DELETE', `/api/v1/api-keys/${id}`, { session });
  expect([status, body.code]).toEqual([404, 'not_found']);
});

test('while Redis cannot be told, a key is not deleted: 503, and it goes on working', async () => {
  const { token } = await organization.createMeter('SUM');
  // Nothing listens on port 1.
  const lonely = await weir.startApi({ REDIS_URL: 'redis://127.0.0.1:1/0' });
  const { id, key } = await createKey();
  const refused = await weir.request('DELETE', `/api/v1/api-keys/${id}`, { session, baseUrl: lonely.url });
  expect([refused.status, refused.body.code]).toEqual([503, 'unavailable']);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  const { body } = await weir.request('GET', '/api/v1/api-keys', { session });
  expect(body.data.map((listed: { id: string }) => listed.id)).toContain(id);
  expect((await track(key, token, weir.baseUrl)).status).toBe(201);
  await lonely.close();
});
