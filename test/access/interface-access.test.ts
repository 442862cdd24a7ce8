// What the interface document says about API keys and their use, row by row. Revoking a key is in revocation.test.ts,
// sessions are in sessions.test.ts.

import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { signUp, type Answer, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let organization: Organization;
let session: string;

beforeAll(async () => {
  organization = await signUp(weir);
  ({ session } = organization);
});

const createKey = (body: unknown): Promise<Answer> => weir.request('POST', '/api/v1/api-keys', { session, body });
const good = { name: 'Backend', scopes: ['usage.write', 'usage.read'] };

describe('the fields of an API key', () => {
  test('its fields come back at creation, with the key, its end and nothing else', async () => {
    const { status, body } = await createKey(good);
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      name: 'Backend',
      key: expect.stringMatching(/^org_live_[0-9A-Za-z]{33}$/),
      last4: body.key.slice(-4),
      scopes: ['usage.write', 'usage.read'],
      status: 'ACTIVE',
      last_used_at: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/),
    });
    expect(Math.abs(Date.parse(body.created_at) - Date.now())).toBeLessThan(60_000);
  });

  test('key is a new secret each time, and only its SHA-256 is stored', async () => {
    const [one, other] = [await createKey(good), await createKey(good)];
    expect(one.body.key).not.toBe(other.body.key);
    const { rows } = await weir.pool.query('SELECT * FROM api_keys WHERE id = $1', [one.body.id]);
    expect(rows[0].key_hash).toEqual(createHash('sha256').update(one.body.key).digest());
    expect(JSON.stringify(rows)).not.toContain(one.body.key.slice('org_live_'.length));
  });

  test.each([
    ['usage.write alone', ['usage.write'], 201],
    ['usage.read alone', ['usage.read'], 201],
    ['none', [], 422],
    ['one of them twice', ['usage.read', 'usage.read'], 422],
    ['another word', ['usage.admin'], 422],
    ['a text instead of a list', 'usage.read', 422],
    ['an empty text', '', 422],
    ['null', null, 422],
    ['nothing at all', undefined, 422],
  ])('scopes: %s', async (_, scopes, status) => {
    const answer = await createKey({ name: 'Backend', scopes });
    expect(answer.status).toBe(status);
    const refused = [{ path: expect.stringMatching(/^scopes(\[0\])?$/), message: expect.any(String) }];
    expect(answer.body.errors ?? answer.body.scopes).toEqual(status === 201 ? scopes : refused);
  });

  test.each([
    ['is missing', undefined],
    ['is empty', ''],
    ['is blank', '  '],
    ['is too long', 'n'.repeat(256)],
    ['is no text', 7],
    ['has a NUL, which Postgres cannot hold', 'a\0b'],
  ])('a name that %s is refused', async (_, name) => {
    const { status, body } = await createKey({ ...good, name });
    expect([status, body.code, body.errors[0].path]).toEqual([422, 'invalid_request', 'name']);
  });

  test('a field that does not exist is refused by its name', async () => {
    const { status, body } = await createKey({ ...good, scope: 'usage.read' });
    expect([status, body.errors[0].path]).toEqual([422, 'scope']);
  });
});

describe('listing API keys', () => {
  test('the list has id, name, scopes and status, newest first, and never the secret', async () => {
    const { body: created } = await createKey({ name: 'Listed', scopes: ['usage.read'] });
    const { status, body } = await weir.request('GET', '/api/v1/api-keys?page_size=100', { session });
    expect(status).toBe(200);
    const { key, ...rest } = created;
    expect(body.data[0]).toEqual(rest);
    expect(body.data.every((item: object) => !('key' in item) && !('key_hash' in item))).toBe(true);
    expect(JSON.stringify(body)).not.toContain(key);
  });

  test('the list comes in pages that together hold every key once', async () => {
    const { session } = await signUp(weir);
    for (let n = 0; n < 5; n += 1) {
      await weir.request('POST', '/api/v1/api-keys', { session, body: { ...good, name: `Key ${n}` } });
    }
    const page = (n: number) => weir.request('GET', `/api/v1/api-keys?page=${n}&page_size=2`, { session });
    const pages = [await page(1), await page(2), await page(3), await page(4)];
    expect(pages.map(({ body }) => body.data.map(({ name }: { name: string }) => name))).toEqual([
      ['Key 4', 'Key 3'],
      ['Key 2', 'Key 1'],
      ['Key 0'],
      [],
    ]);
    expect(pages[3]?.body.meta).toEqual({ page: 4, page_size: 2, total: 5, total_pages: 3, next_cursor: null });
  });

  test('without keys the list is empty, and says so', async () => {
    const { session } = await signUp(weir);
    const { body } = await weir.request('GET', '/api/v1/api-keys', { session });
    expect(body).toEqual({ data: [], meta: { page: 1, page_size: 20, total: 0, total_pages: 0, next_cursor: null } });
  });

  test.each([
    'page=0',
    'page=-1',
    'page=x',
    'page=',
    'page=1.5',
    'page=1&page=2',
    'page_size=0',
    'page_size=101',
    'size=5',
  ])('?%s is refused', async (query) => {
    const { status, body } = await weir.request('GET', `/api/v1/api-keys?${query}`, { session });
    expect([status, body.errors[0].path]).toEqual([422, query.split('=')[0]]);
  });
});

describe('authentication', () => {
  const track = async (apiKey?: string, headers: Record<string, string> = {}) => {
    const meter = await organization.createMeter('SUM');
    const body = { meter_token: meter.token, customer_external_id: 'customer', quantity: 1 };
    return await weir.request('POST', '/api/v1/sdk/track', { body, headers, ...(apiKey !== undefined && { apiKey }) });
  };

  test('tracking takes a key in X-API-Key, and no login', async () => {
    expect((await track(await organization.createKey('usage.write'))).status).toBe(201);
  });

  test('tracking without a key gets 401, which names the header', async () => {
    const without = await track();
    expect([without.status, without.body.code]).toEqual([401, 'unauthenticated']);
    expect(without.headers.get('www-authenticate')).toContain('X-API-Key');
  });

  // What each credential opens is the table of credentials.test.ts.
  test('a key that lacks a scope is told which one', async () => {
    const apiKey = await organization.createKey('usage.write');
    for (const path of ['features', 'meters', 'customers', 'events'])
      expect((await weir.request('GET', `/api/v1/${path}`, { apiKey })).body.detail, path).toContain('usage.read');
  });

  test('what is no key of ours, in whatever way, gets 401 for tracking and for reading', async () => {
    const key = await organization.createKey();
    const mistyped = key.slice(0, -1) + (key.endsWith('x') ? 'y' : 'x');
    // Its checksum is right, and nobody has it.
    const unknown = 'org_live_00000000000000000000000000007N8JM';
    const others = [
      mistyped,
      unknown,
      key.slice(0, -1),
      key.toUpperCase(),
      `${key}, ${key}`,
      '',
      'Bearer',
      'secret',
      'ü',
    ];
    for (const apiKey of others) {
      expect((await track(apiKey)).status, apiKey).toBe(401);
      expect((await weir.request('GET', '/api/v1/features', { apiKey })).status, apiKey).toBe(401);
    }
  });

  test('a key that is sent on purpose counts, and not the session beside it', async () => {
    const apiKey = await organization.createKey('usage.write');
    expect((await weir.request('GET', '/api/v1/features', { session, apiKey })).status).toBe(403);
  });
});

test('every path begins with /api/v1 and says which credential opens it, but for what operators use', async () => {
  const { body } = await weir.request('GET', '/openapi.json');
  type Operation = { tags: string[]; security?: object[]; summary?: string };
  const operations = Object.entries<Record<string, Operation>>(body.paths).flatMap(([path, methods]) =>
    Object.values(methods).map((operation) => ({ path, ...operation })),
  );
  const forUse = operations.filter(({ tags }) => !tags.includes('Operations'));
  expect(forUse.length).toBeGreaterThan(30);
  const incomplete = forUse.filter(
    ({ path, security, summary }) => !path.startsWith('/api/v1/') || security === undefined || summary === undefined,
  );
  expect(incomplete).toEqual([]);
});
