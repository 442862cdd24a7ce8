// The audit log: every change is in it, with who, when and from where, and no secret is.

import { deleteOldAuditEntries } from '@weir/db/audit-log';
import { newId } from '@weir/shared/ids';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { openTestDatabase } from '../support/test-database.ts';
import { fixedCharge } from '../support/billing-fixture.ts';
import { signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { join, sessionIn, tokenIn } from '../support/people.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let adminId: string;

beforeAll(async () => {
  admin = await signUp(weir);
  adminId = (await get('/auth/me')).body.user.id;
});

const send = (method: string, path: string, body?: object, session: string | null = admin.session): Promise<Answer> =>
  weir.request(method, `/api/v1${path}`, {
    headers: { 'user-agent': 'Test/1' },
    ...(session !== null && { session }),
    ...(body !== undefined && { body }),
  });
const get = (path: string, session = admin.session) => send('GET', path, undefined, session);
const log = async (query = '', session = admin.session) => (await get(`/audit-log${query}`, session)).body;
const latest = async (session = admin.session) => (await log('?limit=1', session)).data[0];
const plan = { name: 'Pro', lookup_id: 'pro', type: 'HYBRID', billing_interval: 'month', currency: 'EUR' };

test('a change is told with who made it, when, from where, and what was sent', async () => {
  const before = Date.now();
  const { body } = await send('POST', '/plans', plan);
  const entry = await latest();
  expect(entry).toEqual({
    id: expect.any(String),
    created_at: expect.any(String),
    action: 'plan.create',
    resource_type: 'plan',
    resource_id: body.id,
    actor: { type: 'user', id: adminId, email: admin.email, name: null },
    address: expect.stringMatching(/127\.0\.0\.1|::1/),
    user_agent: 'Test/1',
    // As it was sent: without the defaults that the plan has.
    changes: plan,
    outcome: 'done',
  });
  expect(Date.parse(entry.created_at)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(entry.created_at)).toBeLessThanOrEqual(Date.now());
});

test('the log says for how many days it keeps an entry', async () => {
  expect((await log()).kept_days).toBe(400);
  const { session } = admin;
  for (const [days, told] of [
    ['30', 30],
    ['0', null],
  ] as const) {
    const api = await weir.startApi({ AUDIT_LOG_DAYS: days });
    const answer = await fetch(`${api.url}/api/v1/audit-log`, { headers: { cookie: `access_token=${session}` } });
    expect(await answer.json()).toMatchObject({ kept_days: told });
    await api.close();
  }
});

test('an amount is told with all its digits, and the log is read from the beginning of time in every zone', async () => {
  const { body } = await send('POST', '/plans', { ...plan, lookup_id: 'exact' });
  const sent = JSON.stringify({ ...fixedCharge('1'), unit_price: 0 }).replace(':0', ':123456789012.123456789012345678');
  const { session } = admin;
  const charge = await weir.request('POST', `/api/v1/plans/${body.id}/charges`, { session, raw: sent });
  expect([charge.status, charge.body.unit_price]).toEqual([201, '123456789012.123456789012345678']);
  expect((await latest()).changes.unit_price).toBe('123456789012.123456789012345678');
  await send('PATCH', '/billing/settings', { time_zone: 'Asia/Kathmandu' });
  for (const start of ['1970-01-01', '1970-01-01T00:00:00%2B14:00'])
    expect((await log(`?limit=1&start_date=${start}`)).data).toHaveLength(1);
});

test('changes in what belongs to something else tell what that is', async () => {
  const { body: made } = await send('POST', '/plans', { ...plan, lookup_id: 'within' });
  const feature = await send('POST', '/features', { name: 'SSO', lookup_key: 'sso', type: 'switch' });
  const feature_id = feature.body.id;
  await send('POST', `/plans/${made.id}/features`, { feature_id });
  expect(await latest()).toMatchObject({ action: 'plan.add_feature', resource_id: made.id, changes: { feature_id } });
  await send('DELETE', `/plans/${made.id}/features/${feature_id}`);
  expect(await latest()).toMatchObject({
    action: 'plan.remove_feature',
    resource_id: made.id,
    changes: { feature_id },
  });
  const charge = fixedCharge('10');
  const charged = await send('POST', `/plans/${made.id}/charges`, charge);
  expect(charged.status).toBe(201);
  expect(await latest()).toMatchObject({
    action: 'charge.create',
    resource_id: charged.body.id,
    changes: { plan_id: made.id, ...charge },
  });
  await send('PATCH', '/billing/settings', { invoice_prefix: 'ACME' });
  expect(await latest()).toMatchObject({ action: 'billing_settings.update', resource_id: admin.id });
});

test('what is refused, and what changes nothing, leaves no entry', async () => {
  const { id } = await latest();
  expect((await send('POST', '/plans', plan)).status).toBe(409);
  expect((await send('PATCH', `/plans/${newId()}`, { name: 'x' })).status).toBe(404);
  expect((await send('POST', '/plans', {})).status).toBe(422);
  expect((await send('DELETE', `/users/${adminId}`)).status).toBe(409);
  const evaluate = { currency: 'USD', charge: { type: 'USAGE', unit_price: '0.05' }, quantity: '1' };
  expect((await send('POST', '/charges/evaluate', evaluate)).status).toBe(200);
  expect((await latest()).id).toBe(id);
  const { rows } = await weir.pool.query('SELECT FROM audit_entries WHERE NOT is_done');
  expect(rows).toEqual([]);
});

test('a widget token is told by the key that made it, and tracking is not told', async () => {
  const apiKey = await admin.createKey('usage.write');
  const made = await latest();
  expect(made).toMatchObject({ action: 'api_key.create', changes: { name: 'test', scopes: ['usage.write'] } });
  await weir.request('POST', '/api/v1/widget/token', { apiKey, body: { customer_external_id: 'acme' } });
  const entry = {
    action: 'widget_token.create',
    resource_id: null,
    actor: { type: 'api_key', id: made.resource_id, email: null },
    changes: { customer_external_id: 'acme' },
  };
  expect(await latest()).toMatchObject(entry);
  const { token } = await admin.createMeter('SUM');
  const { id } = await latest();
  const event = { meter_token: token, customer_external_id: 'acme', quantity: 1 };
  expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, body: event })).status).toBe(201);
  expect((await latest()).id).toBe(id);
});

test('how people come and go is told, and none of it holds a secret', async () => {
  const own = await signUp(weir);
  const viewer = await join(weir, own, 'viewer');
  const login = await send('POST', '/auth/login', { email: own.email, password: own.password }, null);
  const session = sessionIn(login);
  await send(
    'POST',
    '/auth/password',
    { current_password: own.password, new_password: 'another horse battery' },
    session,
  );
  const { body: reset } = await send('POST', `/users/${viewer.id}/password-reset`, undefined, session);
  const renewed = { token: tokenIn(reset.link), new_password: 'third horse battery' };
  const back = sessionIn(await send('POST', '/auth/password-reset', renewed, null));
  await send('POST', '/auth/logout', undefined, back);
  await send('PATCH', `/users/${viewer.id}`, { role: 'admin' }, session);
  await send('DELETE', '/auth/sessions', undefined, session);
  await send('DELETE', `/users/${viewer.id}`, undefined, session);
  const note = { external_id: 'x', name: tokenIn(reset.link), metadata: { password: 'fourth horse battery' } };
  await send('POST', '/customers', note, session);

  const { data } = await log('?limit=100', session);
  expect(
    data.map((each: { action: string; actor: { email: string } }) => `${each.action} ${each.actor.email}`),
  ).toEqual([
    `customer.create ${own.email}`,
    `user.delete ${own.email}`,
    `user.end_other_sessions ${own.email}`,
    `user.update ${own.email}`,
    `session.delete ${viewer.email}`,
    `user.reset_password ${viewer.email}`,
    `user.make_reset_link ${own.email}`,
    `user.change_password ${own.email}`,
    `session.create ${own.email}`,
    `invitation.accept ${viewer.email}`,
    `invitation.create ${own.email}`,
    `organization.create ${own.email}`,
  ]);
  const { rows } = await weir.pool.query('SELECT * FROM audit_entries WHERE organization_id = $1', [own.id]);
  const text = JSON.stringify([data, rows]);
  const secrets = [own.password, viewer.password, own.session, session, back, viewer.session, tokenIn(reset.link)];
  for (const secret of [...secrets, 'another horse battery', 'third horse battery', 'fourth horse battery'])
    expect(text).not.toContain(secret);
  expect(data[0].changes).toEqual({ external_id: 'x', name: '[removed]', metadata: { password: '[removed]' } });
});

describe('an entry is there before the change', () => {
  test('so a process that dies in between leaves one that says that nobody knows', async () => {
    const api = await weir.spawnApi();
    const { body: customer } = await send('POST', '/customers', { external_id: 'held' });
    // The change is held up where it is made; its entry is committed.
    const gate = await weir.pool.connect();
    await gate.query('BEGIN');
    await gate.query('SELECT FROM customers WHERE id = $1 FOR UPDATE', [customer.id]);
    const changing = weir
      .request('PATCH', `/api/v1/customers/${customer.id}`, {
        baseUrl: api.url,
        session: admin.session,
        body: { name: 'Changed' },
      })
      .catch((error: unknown) => error);
    const entryOf = async () =>
      (
        await weir.pool.query(
          `SELECT id, is_done FROM audit_entries WHERE resource_id = $1 AND action = 'customer.update'`,
          [customer.id],
        )
      ).rows[0];
    await until(async () => (await entryOf()) !== undefined, 'the entry is written');
    await api.stop('SIGKILL');
    expect(await changing).toBeInstanceOf(Error);
    await gate.query('ROLLBACK');
    gate.release();
    // Nobody sees it while the request could still be under way; afterwards it stands there.
    expect(await log(`?resource_id=${customer.id}&action=customer.update`)).toMatchObject({ data: [] });
    await weir.pool.query('UPDATE audit_entries SET id = $2 WHERE id = $1', [
      (await entryOf()).id,
      newId(Date.now() - 61_000),
    ]);
    expect(await log(`?resource_id=${customer.id}&action=customer.update`)).toMatchObject({
      data: [{ outcome: 'unknown', changes: { name: 'Changed' }, actor: { email: admin.email } }],
    });
  });

  test('and where it cannot be written, nothing is changed', async () => {
    await weir.pool.query('ALTER TABLE audit_entries RENAME TO audit_entries_away');
    const answer = await send('POST', '/customers', { external_id: 'unlogged' });
    await weir.pool.query('ALTER TABLE audit_entries_away RENAME TO audit_entries');
    expect(answer.status).toBe(500);
    expect((await get('/customers?search=unlogged')).body.data).toEqual([]);
  });
});

describe('the log is read', () => {
  let own: Organization;
  let other: { id: string; session: string };
  beforeAll(async () => {
    own = await signUp(weir);
    other = await join(weir, own, 'admin');
    for (let n = 0; n < 5; n += 1)
      await send('POST', '/customers', { external_id: `c${n}` }, n % 2 === 0 ? own.session : other.session);
  });
  const actions = async (query: string): Promise<string[]> =>
    (await log(query, own.session)).data.map(({ action }: { action: string }) => action);

  test('page by page, newest first, and each entry once', async () => {
    const ids: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { data, meta } = await log(`?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`, own.session);
      ids.push(...data.map(({ id }: { id: string }) => id));
      cursor = meta.next_cursor;
    }
    expect(ids).toHaveLength(8);
    expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
  });

  test('in pages of some megabytes, where whole bodies were sent, and each of these in full', async () => {
    const mine = await signUp(weir);
    const body = {
      put_features: Array.from({ length: 500 }, (_, n) => ({ static_value: `${n} `.padEnd(1_000, 'ä') })),
    };
    const ids = Array.from({ length: 30 }, () => newId()).toSorted();
    await weir.pool.query(
      `INSERT INTO audit_entries (organization_id, id, action, resource_type, actor_type, changes, is_done)
        SELECT $1, id, 'plan.update', 'plan', 'operator', $3, true FROM unnest($2::uuid[]) AS id`,
      [mine.id, ids, body],
    );
    const found: string[] = [];
    const sizes: number[] = [];
    for (let query = '?limit=100&action=plan.update'; query !== '';) {
      const page = await log(query, mine.session);
      sizes.push(Buffer.byteLength(JSON.stringify(page)));
      for (const { id, changes } of page.data) {
        expect(changes).toEqual(body);
        found.push(id);
      }
      const { next_cursor: cursor } = page.meta;
      query = cursor === null ? '' : `?limit=100&action=plan.update&cursor=${cursor}`;
    }
    expect(found).toEqual(ids.toReversed());
    expect(Math.max(...sizes)).toBeLessThan(2.1 * 1024 * 1024);
    // One that has more than a page is there all the same.
    const large = newId();
    const more = { text: 'x'.repeat(3 * 1024 * 1024) };
    await weir.pool.query(
      `INSERT INTO audit_entries (organization_id, id, action, resource_type, actor_type, changes, is_done)
        VALUES ($1, $2, 'plan.update', 'plan', 'operator', $3, true)`,
      [mine.id, large, more],
    );
    expect(await log('?limit=2', mine.session)).toMatchObject({
      data: [{ id: large, changes: more }],
      meta: { next_cursor: large },
    });
  });

  test('by who, what, which and when', async () => {
    expect(await actions(`?user_id=${other.id}`)).toEqual(['customer.create', 'customer.create', 'invitation.accept']);
    expect(await actions(`?actor_id=${other.id}&action=customer.create`)).toHaveLength(2);
    expect(await actions('?action=customer.create')).toHaveLength(5);
    const { data } = await log('?action=customer.create&limit=2', own.session);
    const [second, first] = data;
    expect(await actions(`?resource_id=${first.resource_id}`)).toEqual(['customer.create']);
    // Half-open: from its very millisecond on, and until before it.
    const ids = async (query: string) => (await log(query, own.session)).data.map(({ id }: { id: string }) => id);
    expect(await ids(`?start_date=${second.created_at}&limit=1`)).toEqual([second.id]);
    const until = second.created_at.replace('Z', '001Z');
    expect(await ids(`?start_date=${first.created_at}&end_date=${until}&action=customer.create`)).toContain(second.id);
    expect(await ids(`?end_date=${first.created_at}`)).not.toContain(first.id);
    expect(await ids(`?start_date=${until}`)).not.toContain(second.id);
  });

  test('by days of the organization’s time zone, the last one included', async () => {
    await send('PATCH', '/billing/settings', { time_zone: 'Pacific/Kiritimati' }, own.session);
    const at = (iso: string) => newId(Date.parse(iso));
    const [early, late] = [at('2026-03-09T10:00:00.000Z'), at('2026-03-10T09:59:59.999Z')];
    const outside = [at('2026-03-09T09:59:59.999Z'), at('2026-03-10T10:00:00.000Z')];
    for (const id of [early, late, ...outside])
      await weir.pool.query(
        `INSERT INTO audit_entries (organization_id, id, action, resource_type, actor_type, is_done)
          VALUES ($1, $2, 'test.entry', 'test', 'operator', true)`,
        [own.id, id],
      );
    const { data } = await log('?action=test.entry&start_date=2026-03-10&end_date=2026-03-10', own.session);
    expect(data.map(({ id }: { id: string }) => id)).toEqual([late, early]);
    expect(data[1]).toMatchObject({
      created_at: '2026-03-09T10:00:00.000Z',
      actor: { type: 'operator', id: null, email: null },
    });
  });

  test('by viewers too', async () => {
    const viewer = await join(weir, own, 'viewer');
    expect((await get('/audit-log', viewer.session)).status).toBe(200);
  });
});

test('old entries of all organizations are deleted, and no others', async () => {
  const mine = await signUp(weir);
  const days = (n: number) => newId(Date.now() - n * 86_400_000);
  const entries = [days(401), days(402), days(399)];
  for (const [at, id] of entries.entries())
    await weir.pool.query(
      `INSERT INTO audit_entries (organization_id, id, action, resource_type, actor_type, is_done)
        VALUES ($1, $2, 'test.old', 'test', 'operator', true)`,
      [at === 0 ? admin.id : mine.id, id],
    );
  const database = openTestDatabase(weir, 1);
  const count = async () => Number((await weir.pool.query('SELECT count(*) FROM audit_entries')).rows[0].count);
  const before = await count();
  // The clock of one worker may be a year ahead.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 365 * 86_400_000 });
  expect(await deleteOldAuditEntries(database.kysely, 400).finally(() => vi.useRealTimers())).toBe(2);
  expect(await count()).toBe(before - 2);
  expect((await log('?action=test.old', mine.session)).data).toMatchObject([{ id: entries[2] }]);
  await database.close();
});
