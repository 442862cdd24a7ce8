// Deleting an API key revokes it at once, on every process.

import { beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, startWeir, until, type Organization, type RequestOptions } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let organization: Organization;
let session: string;

beforeAll(async () => {
  organization = await signUp(weir);
  ({ session } = organization);
});

async function createKey(...scopes: string[]): Promise<{ id: string; key: string }> {
  const body = { name: 'To be deleted', scopes: scopes.length > 0 ? scopes : ['usage.write', 'usage.read'] };
  return (await weir.request('POST', '/api/v1/api-keys', { session, body })).body;
}

const track = (apiKey: string, meter_token: string, baseUrl: string) =>
  weir.request('POST', '/api/v1/sdk/track', {
    apiKey,
    baseUrl,
    body: { meter_token, customer_external_id: 'customer', quantity: 1 },
  });
const read = (apiKey: string, baseUrl: string) => weir.request('GET', '/api/v1/features', { apiKey, baseUrl });

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
      expectProblem(await track(key, token, url), 401, 'unauthenticated');
      expectProblem(await read(key, url), 401, 'unauthenticated');
    }
  }
  // One event from each process before the key was deleted, and none after.
  expect(await weir.stagedEvents()).toBe(2);
  await other.stop();
});

describe('a deleted key that two processes have just used gets 401 from both, also', () => {
  const event = (more: Record<string, unknown> = {}) => ({
    meter_token: token,
    customer_external_id: 'customer',
    quantity: 1,
    ...more,
  });
  const good = () => event();
  const bad = () => event({ quantity: 0 });
  const one = (options: () => RequestOptions, path = '/api/v1/sdk/track') => ({ path, options });
  const many = (events: () => unknown[]) => one(() => ({ body: { events: events() } }), '/api/v1/sdk/track/batch');
  let token: string;
  let archived: string;
  let urls: string[];
  beforeAll(async () => {
    ({ token } = await organization.createMeter('SUM'));
    const meter = await organization.createMeter('SUM');
    await organization.call('PATCH', `/meters/${meter.id}`, { status: 'ARCHIVED' });
    archived = meter.token;
    const start = () => weir.startApi({ BODY_BYTES_MAX: '16384', RATE_LIMIT_EVENTS_PER_KEY: '100' });
    urls = [(await start()).url, (await start()).url];
  });

  const refused: [string, number, ReturnType<typeof one>][] = [
    ['for a quantity of 0', 422, one(() => ({ body: bad() }))],
    ['for a field that there is not', 422, one(() => ({ body: event({ idempotence_key: 'k' }) }))],
    ['for a parameter that there is not', 422, one(() => ({ body: good() }), '/api/v1/sdk/track?dry=1')],
    ['for an unknown meter_token', 404, one(() => ({ body: event({ meter_token: 'unknown' }) }))],
    ['for an archived meter', 422, one(() => ({ body: event({ meter_token: archived }) }))],
    ['for what is not JSON', 400, one(() => ({ raw: '{' }))],
    ['for another type', 415, one(() => ({ raw: 'a', headers: { 'content-type': 'text/plain' } }))],
    ['for a body that is too large', 413, one(() => ({ raw: ' '.repeat(100_000) }))],
    ['for a batch that is too large for its key', 429, many(() => Array.from({ length: 101 }, good))],
    ['for a batch of bad events', 207, many(() => [bad(), bad()])],
    ['for a batch with one good event', 207, many(() => [good(), bad()])],
    ['for a batch that is not JSON', 400, one(() => ({ raw: '{' }), '/api/v1/sdk/track/batch')],
    ['for an empty batch', 422, many(() => [])],
  ];
  test.each(refused)('%s', async (_, status, { path, options }) => {
    const { id, key } = await createKey();
    const ask = (baseUrl: string) => weir.request('POST', path, { apiKey: key, baseUrl, ...options() });
    for (const url of urls) expect((await ask(url)).status).toBe(status);
    const before = await weir.stagedEvents();
    expect((await weir.request('DELETE', `/api/v1/api-keys/${id}`, { session })).status).toBe(204);
    for (const url of [...urls, ...urls]) expectProblem(await ask(url), 401, 'unauthenticated');
    expect(await weir.stagedEvents()).toBe(before);
  });

  test('for a scope that it did not have', async () => {
    const { id, key } = await createKey('usage.read');
    for (const url of urls) expect((await track(key, token, url)).status).toBe(403);
    await weir.request('DELETE', `/api/v1/api-keys/${id}`, { session });
    for (const url of urls) expectProblem(await track(key, token, url), 401, 'unauthenticated');
  });
});

test('when Redis has lost the mark of a deleted key, it is still refused, and another works again', async () => {
  const { token } = await organization.createMeter('SUM');
  const deleted = await createKey();
  const kept = await createKey();
  for (const { key } of [deleted, kept]) expect((await track(key, token, weir.baseUrl)).status).toBe(201);
  expect((await weir.request('DELETE', `/api/v1/api-keys/${deleted.id}`, { session })).status).toBe(204);
  const before = await weir.stagedEvents();
  // All that speaks of keys; the batches stay, so that what is staged can be counted.
  expect(await weir.redis.unlink(weir.keys.revoked(deleted.id), weir.keys.epoch)).toBe(2);

  // Postgres knows which keys there are, so the first event of each goes there.
  for (let round = 0; round < 2; round += 1) {
    expect((await track(deleted.key, token, weir.baseUrl)).status).toBe(401);
    expect((await track(kept.key, token, weir.baseUrl)).status).toBe(201);
  }
  const { rows } = await weir.pool.query('SELECT count(*)::int AS events FROM events');
  expect((await weir.stagedEvents()) + rows[0]?.events).toBe(before + 2);
});

test('under load nothing that begins after the 204 is accepted, and all accepted before is kept', async () => {
  const busy = await startWeir();
  try {
    const admin = await signUp(busy);
    const { token } = await admin.createMeter('SUM');
    const processes = await Promise.all([1, 2, 3].map(() => busy.spawnApi()));
    const body = { name: 'Under load', scopes: ['usage.write', 'usage.read'] };
    const created = await busy.request('POST', '/api/v1/api-keys', { session: admin.session, body });
    const { id, key } = created.body as { id: string; key: string };
    const widget = await busy.request('POST', '/api/v1/widget/token', {
      apiKey: key,
      body: { customer_external_id: 'before' },
    });

    let isDeleted = false;
    let isOver = false;
    const answers = { before: [] as number[], after: [] as number[] };
    let accepted = 0;
    // Which side of the 204 a request is on is decided before it is sent, and stands in its event.
    const asks: ((side: 'before' | 'after', baseUrl: string) => Promise<number>)[] = [
      async (side, baseUrl) => {
        const event = { meter_token: token, customer_external_id: side, quantity: 1 };
        const { status } = await busy.request('POST', '/api/v1/sdk/track', { apiKey: key, baseUrl, body: event });
        if (status === 201) accepted += 1;
        return status;
      },
      async (side, baseUrl) => {
        const events = [1, 2, 3].map(() => ({ meter_token: token, customer_external_id: side, quantity: 1 }));
        const answer = await busy.request('POST', '/api/v1/sdk/track/batch', {
          apiKey: key,
          baseUrl,
          body: { events },
        });
        // An event of a batch that was under way may have been just too late.
        const items = (answer.body.data ?? []) as { status: number }[];
        accepted += items.filter(({ status }) => status === 201).length;
        return answer.status;
      },
      async (_, baseUrl) => (await busy.request('GET', '/api/v1/features', { apiKey: key, baseUrl })).status,
      async (side, baseUrl) => {
        const body = { customer_external_id: side };
        return (await busy.request('POST', '/api/v1/widget/token', { apiKey: key, baseUrl, body })).status;
      },
      async (_, baseUrl) => {
        const headers = { authorization: `Bearer ${widget.body.token}` };
        return (await busy.request('GET', '/api/v1/widget/usage', { headers, baseUrl })).status;
      },
    ];
    const client = async (ask: (typeof asks)[number], baseUrl: string): Promise<void> => {
      while (!isOver) {
        const side = isDeleted ? 'after' : 'before';
        answers[side].push(await ask(side, baseUrl));
      }
    };
    const clients = processes.flatMap(({ url }) => asks.flatMap((ask) => [client(ask, url), client(ask, url)]));

    await until(() => answers.before.length > 300, 'the load is under way');
    const [first] = processes;
    const deleted = await busy.request('DELETE', `/api/v1/api-keys/${id}`, {
      session: admin.session,
      ...(first !== undefined && { baseUrl: first.url }),
    });
    isDeleted = true;
    expect(deleted.status).toBe(204);
    await until(() => answers.after.length > 300, 'as much has been asked again');
    isOver = true;
    await Promise.all(clients);

    // Those that were under way met either answer.
    expect([...new Set(answers.before)].filter((status) => status >= 300 && status !== 401)).toEqual([]);
    expect(new Set(answers.after)).toEqual(new Set([401]));
    await busy.drained();
    const sql = 'SELECT customer_external_id AS side, count(*)::int AS events FROM events GROUP BY 1';
    expect((await busy.pool.query(sql)).rows).toEqual([{ side: 'before', events: accepted }]);
    expect((await busy.pool.query('SELECT 1 FROM widget_tokens')).rowCount).toBe(0);
  } finally {
    await busy.close();
  }
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
