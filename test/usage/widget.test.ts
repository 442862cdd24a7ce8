// What an app shows its customer: a token opens the usage of that one customer, for an hour, and nothing else.

import { openDatabase } from '@weir/db/database';
import { deleteExpiredWidgetTokens } from '@weir/db/widget-tokens';
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeCustomer, makePricedPlan } from '../support/billing-fixture.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let organization: Organization;
let apiKey: string;
let calls: { id: string; token: string; featureId: string };
let seats: { id: string; token: string; featureId: string };

beforeAll(async () => {
  organization = await signUp(weir);
  apiKey = await organization.createKey();
  calls = await organization.createMeter('SUM', 'calls');
  seats = await organization.createMeter('MAX');
  await track(apiKey, calls.token, 'ada', 2.5);
  await track(apiKey, calls.token, 'ada', 0.1);
  await track(apiKey, calls.token, 'grace', 1000);
  await track(apiKey, seats.token, 'grace', 7);
  await weir.drained();
});

async function track(key: string, meter_token: string, customer_external_id: string, quantity: number): Promise<void> {
  const body = { meter_token, customer_external_id, quantity };
  expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey: key, body })).status).toBe(201);
}

const mint = (key: string, body: unknown = { customer_external_id: 'ada' }) =>
  weir.request('POST', '/api/v1/widget/token', { apiKey: key, body });
const tokenFor = async (customer_external_id: string, key = apiKey): Promise<string> =>
  (await mint(key, { customer_external_id })).body.token;
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const usage = (token: string, query = '', baseUrl = weir.baseUrl): Promise<Answer> =>
  weir.request('GET', `/api/v1/widget/usage${query}`, { ...bearer(token), baseUrl });
const chart = (token: string, id: string, query = ''): Promise<Answer> =>
  weir.request('GET', `/api/v1/widget/meters/${id}/usage${query}`, bearer(token));
const hashOf = (token: string) => createHash('sha256').update(token).digest();

describe('a widget token', () => {
  test('is made with an API key, lasts an hour, and is stored as its SHA-256 only', async () => {
    const before = Date.now();
    const { status, headers, body } = await mint(apiKey);
    expect(status).toBe(201);
    expect(body).toEqual({ token: expect.stringMatching(/^wgt_[\w-]{43}$/), expires_at: expect.stringMatching(/Z$/) });
    expect((Date.parse(body.expires_at) - before) / 60_000).toBeCloseTo(60, 0);
    expect(headers.get('cache-control')).toBe('no-store');
    const { rows } = await weir.pool.query('SELECT * FROM widget_tokens WHERE token_hash = $1', [hashOf(body.token)]);
    expect(rows).toEqual([expect.objectContaining({ customer_external_id: 'ada' })]);
    expect(JSON.stringify(rows)).not.toContain(body.token);
  });

  test('is not made in a session, without credentials, or with a key that only reads', async () => {
    const body = { customer_external_id: 'ada' };
    const ask = (options: object) => weir.request('POST', '/api/v1/widget/token', { ...options, body });
    expectProblem(await ask({ session: organization.session }), 401, 'unauthenticated');
    expectProblem(await ask({}), 401, 'unauthenticated');
    expectProblem(await ask(bearer(await tokenFor('ada'))), 401, 'unauthenticated');
    expectProblem(await mint(await organization.createKey('usage.read')), 403, 'missing_scope');
  });

  test.each([
    ['customer_external_id', {}],
    ['customer_external_id', { customer_external_id: '' }],
    ['customer_external_id', { customer_external_id: 'x'.repeat(256) }],
    ['customer_external_id', { customer_external_id: 7 }],
    ['customer_id', { customer_external_id: 'ada', customer_id: 'x' }],
  ])('is refused for its %s in %j', async (path, body) => {
    const answer = await mint(apiKey, body);
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe(path);
  });
});

describe('it shows', () => {
  test('the meters that its customer has used, which needs no record', async () => {
    const { status, body } = await usage(await tokenFor('ada'));
    expect(status).toBe(200);
    expect(body).toEqual({
      customer_external_id: 'ada',
      token_expires_in: expect.any(Number),
      period_start: expect.any(String),
      period_end: expect.any(String),
      data: [
        {
          meter_id: calls.id,
          name: expect.stringMatching(/^Meter/),
          aggregation_type: 'SUM',
          unit: 'calls',
          total_usage: '2.6',
          event_count: 2,
        },
      ],
    });
    expect((await usage(await tokenFor('grace'))).body.data).toHaveLength(2);
    expect((await usage(await tokenFor('nobody yet'))).body.data).toEqual([]);
  });

  test('one meter by day, counting nobody else', async () => {
    const { status, body } = await chart(await tokenFor('ada'), calls.id);
    expect(status).toBe(200);
    expect(body).toMatchObject({ meter_id: calls.id, total_usage: '2.6', event_count: 2, unique_customers: 1 });
    expect(body.grouped_data).toHaveLength(31);
    expect(body.grouped_data.at(-1).usage).toBe('2.6');
    const earlier = await chart(await tokenFor('ada'), calls.id, '?start_date=2024-01-01&end_date=2024-01-02');
    expect([earlier.status, earlier.body.event_count]).toEqual([200, 0]);
  });

  test('no meter that only others have used, as if there were none', async () => {
    const token = await tokenFor('ada');
    const [foreign, absent] = [
      await chart(token, seats.id),
      await chart(token, '01890000-0000-7000-8000-000000000003'),
    ];
    expectProblem(foreign, 404, 'not_found');
    expect({ ...foreign.body, request_id: '' }).toEqual({ ...absent.body, request_id: '' });
    expect((await chart(await tokenFor('grace'), seats.id)).status).toBe(200);
  });

  test('nothing of another customer, whatever is added to the question', async () => {
    const token = await tokenFor('ada');
    for (const query of ['?customer_external_id=grace', '?customer_id=01890000-0000-7000-8000-000000000005']) {
      expectProblem(await usage(token, query), 422, 'invalid_request');
      expectProblem(await chart(token, calls.id, query), 422, 'invalid_request');
    }
  });

  test('nothing of another organization, also where that has a customer of the same name', async () => {
    const stranger = await signUp(weir);
    const theirKey = await stranger.createKey();
    const theirs = await stranger.createMeter('SUM');
    await track(theirKey, theirs.token, 'ada', 99);
    await weir.drained();
    const [mine, other] = [await tokenFor('ada'), await tokenFor('ada', theirKey)];
    expect((await usage(mine)).body.data.map((meter: { meter_id: string }) => meter.meter_id)).toEqual([calls.id]);
    expect((await usage(other)).body.data.map((meter: { meter_id: string }) => meter.meter_id)).toEqual([theirs.id]);
    const foreign = await chart(mine, theirs.id);
    expectProblem(foreign, 404, 'not_found');
    const absent = await chart(mine, '01890000-0000-7000-8000-000000000003');
    expect({ ...foreign.body, request_id: '' }).toEqual({ ...absent.body, request_id: '' });
  });
});

describe('what an organization chooses', () => {
  const settings = (body: object, session = organization.session) =>
    weir.request('PATCH', '/api/v1/widget/settings', { session, body });
  const shown = async (token: string): Promise<string[]> =>
    (await usage(token)).body.data.map((meter: { meter_id: string }) => meter.meter_id);

  test('is shown in its order and nothing else is, until all is shown again', async () => {
    const token = await tokenFor('grace');
    const read = async () =>
      (await weir.request('GET', '/api/v1/widget/settings', { session: organization.session })).body;
    expect(await read()).toEqual({ meter_ids: null });
    expect(await shown(token)).toEqual([seats.id, calls.id]);
    for (const meter_ids of [[calls.id, seats.id], [seats.id]]) {
      const { status, body } = await settings({ meter_ids });
      expect([status, body, await read()]).toEqual([200, { meter_ids }, { meter_ids }]);
      expect(await shown(token)).toEqual(meter_ids);
    }
    const [hidden, absent] = [await chart(token, calls.id), await chart(token, '01890000-0000-7000-8000-000000000003')];
    expectProblem(hidden, 404, 'not_found');
    expect({ ...hidden.body, request_id: '' }).toEqual({ ...absent.body, request_id: '' });
    await settings({ meter_ids: [] });
    expect(await shown(token)).toEqual([]);
    expect((await settings({ meter_ids: null })).body).toEqual({ meter_ids: null });
    expect(await shown(token)).toEqual([seats.id, calls.id]);
  });

  test('is of its own meters, each once, and at most a hundred', async () => {
    const theirs = await (await signUp(weir)).createMeter('SUM');
    expectProblem(await settings({ meter_ids: [calls.id, theirs.id] }), 404, 'not_found');
    const many = Array.from({ length: 101 }, () => crypto.randomUUID());
    for (const meter_ids of [[calls.id, calls.id], ['x'], many, calls.id])
      expectProblem(await settings({ meter_ids }), 422, 'invalid_request');
    expectProblem(await settings({}), 422, 'invalid_request');
    expect(await shown(await tokenFor('ada'))).toEqual([calls.id]);
  });
});

describe('the billing period', () => {
  const ask = (token: string) => weir.request('GET', '/api/v1/widget/billing-period', bearer(token));
  const subscribe = async (customer: string, usage_limit: number) => {
    const record = await makeCustomer(weir, organization, { external_id: customer });
    const plan = await makePricedPlan(weir, organization);
    for (const [feature_id, limit] of [
      [calls.featureId, usage_limit],
      [seats.featureId, null],
    ]) {
      const body = { feature_id, usage_limit: limit, usage_reset_period: 'month' };
      const path = `/api/v1/plans/${plan.id}/features`;
      expect((await weir.request('POST', path, { session: organization.session, body })).status).toBe(201);
    }
    const body = { customer_id: record.id, plan_id: plan.id };
    return await weir.request('POST', '/api/v1/subscriptions', { session: organization.session, body });
  };

  test('is none without a subscription', async () => {
    const { status, body } = await ask(await tokenFor('ada'));
    expect(status).toBe(200);
    expect(body).toEqual({ customer_external_id: 'ada', billing_period: null, data: [] });
  });

  test('is that of the customer of the token, with its limits and those of nobody else', async () => {
    const [linus, ken] = [await subscribe('linus', 100), await subscribe('ken', 7)];
    expect([linus.status, ken.status]).toEqual([201, 201]);
    await track(apiKey, calls.token, 'linus', 101.5);
    await weir.drained();
    const { body } = await ask(await tokenFor('linus'));
    const { current_period_start, current_period_end, time_zone } = linus.body;
    expect(body.billing_period).toEqual({
      period_start: current_period_start,
      period_end: current_period_end,
      time_zone,
    });
    const terms = { is_soft_limit: false, period_start: expect.any(String), resets_at: expect.any(String) };
    expect(body.data).toMatchObject([
      { meter_id: seats.id, limit: null, usage: '0', remaining: null, overage: null },
      { meter_id: calls.id, unit: 'calls', limit: '100', usage: '101.5', remaining: '0', overage: '1.5', ...terms },
    ]);
    expect((await ask(await tokenFor('ken'))).body.data[1]).toMatchObject({ limit: '7', usage: '0', remaining: '7' });
    const session = organization.session;
    await weir.request('PATCH', '/api/v1/widget/settings', { session, body: { meter_ids: [calls.id] } });
    const chosen = (await ask(await tokenFor('linus'))).body.data;
    await weir.request('PATCH', '/api/v1/widget/settings', { session, body: { meter_ids: null } });
    expect(chosen.map((each: { meter_id: string }) => each.meter_id)).toEqual([calls.id]);
  });
});

describe('pages of other origins', () => {
  const origin = { origin: 'https://app.example.com' };
  const preflight = {
    ...origin,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization',
  };

  test('may read what a widget token opens, and hear why they may not', async () => {
    const { authorization } = bearer(await tokenFor('ada')).headers;
    for (const path of ['usage', `meters/${calls.id}/usage`, 'billing-period', 'invoices', 'balance', 'plan']) {
      const asked = await weir.request('OPTIONS', `/api/v1/widget/${path}`, { headers: preflight });
      expect([path, asked.status, asked.body]).toEqual([path, 204, '']);
      expect(asked.headers.get('access-control-allow-origin')).toBe('*');
      expect(asked.headers.get('access-control-allow-headers')).toBe('Authorization');
      expect(asked.headers.get('access-control-allow-methods')).toBe('GET, HEAD');
      for (const [headers, status] of [
        [{ ...origin, authorization }, 200],
        [origin, 401],
      ] as const) {
        const answer = await weir.request('GET', `/api/v1/widget/${path}`, { headers });
        expect(answer.status).toBe(status);
        expect(answer.headers.get('access-control-allow-origin')).toBe('*');
        expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
        expect(answer.headers.has('set-cookie')).toBe(false);
      }
      // A cookie is no token, wherever it comes from.
      const withCookie = { headers: origin, session: organization.session };
      expectProblem(await weir.request('GET', `/api/v1/widget/${path}`, withCookie), 401, 'unauthenticated');
    }
  });

  test('may read nothing else of the API', async () => {
    const { body: document } = await weir.request('GET', '/openapi.json');
    const open: string[] = [];
    const others = ['/', '/docs', '/docs/guides', '/embed', '/openapi.json', '/healthz'];
    for (const path of [...Object.keys(document.paths), ...others]) {
      const url = path.replace(/\{\w+\}/g, '01890000-0000-7000-8000-000000000001');
      const answers = [
        await weir.request('OPTIONS', url, { headers: preflight }),
        await weir.request('GET', url, { headers: origin }),
      ];
      if (answers.some(({ headers }) => [...headers.keys()].some((name) => name.startsWith('access-control-'))))
        open.push(path);
    }
    expect(open.toSorted()).toEqual([
      '/api/v1/widget/balance',
      '/api/v1/widget/billing-period',
      '/api/v1/widget/invoices',
      '/api/v1/widget/invoices/{id}',
      '/api/v1/widget/invoices/{id}/lines',
      '/api/v1/widget/invoices/{id}/lines/{line_id}/events',
      '/api/v1/widget/invoices/{id}/pdf',
      '/api/v1/widget/meters/{id}/usage',
      '/api/v1/widget/plan',
      '/api/v1/widget/usage',
    ]);
  });
});

describe('it ends', () => {
  test('after its hour, by the clock of Postgres, and what is left of it is removed', async () => {
    const [ended, live] = [await tokenFor('ada'), await tokenFor('ada')];
    const end = (token: string, interval: string) =>
      weir.pool.query('UPDATE widget_tokens SET expires_at = now() + $2::interval WHERE token_hash = $1', [
        hashOf(token),
        interval,
      ]);
    await end(ended, '-1 second');
    await end(live, '1 minute');
    const refused = await usage(ended);
    expectProblem(refused, 401, 'unauthenticated');
    expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect((await usage(live)).status).toBe(200);

    const options = { connectionsMax: 1, statementTimeoutMs: 5_000, onConnectionError: () => {} };
    const database = openDatabase(weir.databaseUrl, options);
    await deleteExpiredWidgetTokens(database.kysely);
    await database.close();
    const { rows } = await weir.pool.query('SELECT token_hash FROM widget_tokens WHERE token_hash = ANY($1)', [
      [hashOf(ended), hashOf(live)],
    ]);
    expect(rows).toEqual([{ token_hash: hashOf(live) }]);
  });

  test('with the API key that asked for it, at once and on every process, and with no other key', async () => {
    const { session } = organization;
    const other = await weir.startApi();
    const body = { name: 'Soon gone', scopes: ['usage.write'] };
    const { id, key } = (await weir.request('POST', '/api/v1/api-keys', { session, body })).body;
    const [gone, kept] = [await tokenFor('ada', key), await tokenFor('ada')];
    for (const url of [weir.baseUrl, other.url]) expect((await usage(gone, '', url)).status).toBe(200);
    expect((await weir.request('DELETE', `/api/v1/api-keys/${id}`, { session })).status).toBe(204);
    for (const url of [weir.baseUrl, other.url]) {
      expectProblem(await usage(gone, '', url), 401, 'unauthenticated');
      expect((await usage(kept, '', url)).status).toBe(200);
    }
    await other.close();
  });

  test('before it begins, when its key is deleted while it is made', async () => {
    const { session } = organization;
    const body = { name: 'Soon gone', scopes: ['usage.write'] };
    const { id, key } = (await weir.request('POST', '/api/v1/api-keys', { session, body })).body;
    const deletion = await weir.pool.connect();
    await deletion.query('BEGIN');
    await deletion.query('DELETE FROM api_keys WHERE id = $1', [id]);
    const answer = mint(key);
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    await until(async () => (await weir.pool.query(waiting)).rowCount === 1, 'the token waits for the deletion');
    await deletion.query('COMMIT');
    deletion.release();
    expectProblem(await answer, 401, 'unauthenticated');
  });

  test('with the record of its customer, and not with that of another one', async () => {
    const { session } = organization;
    const create = async (external_id: string): Promise<string> =>
      (await weir.request('POST', '/api/v1/customers', { session, body: { external_id } })).body.id;
    const [leaving, staying] = [await create('leaving'), await create('staying')];
    const [gone, kept] = [await tokenFor('leaving'), await tokenFor('staying')];
    expect((await weir.request('DELETE', `/api/v1/customers/${leaving}`, { session })).status).toBe(204);
    expectProblem(await usage(gone), 401, 'unauthenticated');
    expect((await usage(kept)).status).toBe(200);
    await weir.request('DELETE', `/api/v1/customers/${staying}`, { session });
  });

  test('when its customer gets another external_id, so that its successor is not shown to it', async () => {
    const { session } = organization;
    const create = async (external_id: string): Promise<string> =>
      (await weir.request('POST', '/api/v1/customers', { session, body: { external_id } })).body.id;
    const change = (id: string, body: object) => weir.request('PATCH', `/api/v1/customers/${id}`, { session, body });
    const id = await create('name');
    const [former, future, other] = [await tokenFor('name'), await tokenFor('renamed'), await tokenFor('ada')];
    // What leaves the name as it is ends nothing.
    expect((await change(id, { external_id: 'name', phone: '1' })).status).toBe(200);
    expect((await usage(former)).status).toBe(200);
    expect((await change(id, { external_id: 'renamed' })).status).toBe(200);
    await create('name');
    for (const ended of [former, future]) expectProblem(await usage(ended), 401, 'unauthenticated');
    for (const kept of [other, await tokenFor('name'), await tokenFor('renamed')])
      expect((await usage(kept)).status).toBe(200);
    // A name that is taken changes nothing.
    const token = await tokenFor('renamed');
    expect((await change(id, { external_id: 'name' })).status).toBe(409);
    expect((await usage(token)).status).toBe(200);
  });

  test('and one that is made meanwhile waits for the change, and comes after it', async () => {
    const { session } = organization;
    await weir.request('POST', '/api/v1/customers', { session, body: { external_id: 'moving' } });
    const change = await weir.pool.connect();
    await change.query('BEGIN');
    await change.query("UPDATE customers SET external_id = 'moved' WHERE external_id = 'moving'");
    const answer = mint(apiKey, { customer_external_id: 'moving' });
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    await until(async () => (await weir.pool.query(waiting)).rowCount === 1, 'the token waits for the change');
    await change.query("DELETE FROM widget_tokens WHERE customer_external_id IN ('moving', 'moved')");
    await change.query('COMMIT');
    change.release();
    expect((await answer).status).toBe(201);
  });

  test.each(['Bearer', 'Bearer wgt_', 'Basic YWRhOmFkYQ==', `Bearer wgt_${'A'.repeat(43)}`, `Token ${'A'.repeat(47)}`])(
    'where it never was one: %s',
    async (authorization) => {
      const answer = await weir.request('GET', '/api/v1/widget/usage', { headers: { authorization } });
      expectProblem(answer, 401, 'unauthenticated');
    },
  );
});
