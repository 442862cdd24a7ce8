// The steps of docs/operations.md for a restore, walked as they are written: who was shut out since the backup stays out.

import type pg from 'pg';
import { expect, test } from 'vitest';
import { newId } from '@weir/shared/ids';
import { findInTables, performAllMoves } from '../support/erasing.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Answer, type RequestOptions } from '../support/harness.ts';
import { recordUsed } from '../support/months.ts';
import { join, sessionIn, tokenIn } from '../support/people.ts';
import { NOBODY, restoreOfEachTest, sqlOf } from '../support/restore.ts';
import { runToEnd } from '../support/run-to-end.ts';
import { makeServiceAccount, makeToken } from '../support/service-accounts.ts';
import { openTestDatabase } from '../support/test-database.ts';

const { weir, backUp, inRestored, takeOver } = restoreOfEachTest({ WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });

const signIn = (email: string, password: string, baseUrl: string): Promise<Answer> =>
  weir.request('POST', '/api/v1/auth/login', { body: { email, password }, baseUrl });

test('who was shut out since the backup gets in nowhere, from the first request on', async () => {
  const admin = await signUp(weir);
  const make = (path: string, body: object) => admin.call('POST', path, body, 201);
  const [removed, lowered, changed] = [
    await join(weir, admin, 'admin'),
    await join(weir, admin, 'admin'),
    await join(weir, admin, 'viewer'),
  ];
  const key = await make('/api-keys', { name: 'deleted', scopes: ['usage.read'] });
  const account = await makeServiceAccount(weir, admin, 'admin', 'Deleted');
  const kept = await makeServiceAccount(weir, admin, 'admin', 'Lowered');
  const token = await makeToken(weir, admin, kept.id);
  const endpoint = await make('/webhook-endpoints', { url: 'http://127.0.0.1:1/' });
  const moved = await make('/webhook-endpoints', { url: 'http://127.0.0.1:1/former' });
  const invitation = tokenIn((await make('/invitations', { email: 'invited@example.com', role: 'admin' })).link);
  const reset = tokenIn((await make(`/users/${changed.id}/password-reset`, {})).link);
  const env = await backUp();
  await admin.ask('DELETE', `/users/${removed.id}`);
  await admin.ask('PATCH', `/users/${lowered.id}`, { role: 'viewer' });
  const { status } = await weir.request('POST', '/api/v1/auth/password', {
    session: changed.session,
    body: { current_password: changed.password, new_password: 'another battery' },
  });
  expect(status).toBe(204);
  await admin.ask('PATCH', `/webhook-endpoints/${moved.id}`, { url: 'http://127.0.0.1:1/other' });
  // As where the backup was taken between the entry of a change and the change.
  const { rows: begun } = await weir.pool.query(
    `SELECT * FROM audit_entries WHERE action = 'user.delete' AND resource_id = $1`,
    [removed.id],
  );
  await inRestored((pool) =>
    pool.query('INSERT INTO audit_entries SELECT * FROM jsonb_populate_recordset(NULL::audit_entries, $1::jsonb)', [
      JSON.stringify(begun.map((entry) => ({ ...entry, is_done: false }))),
    ]),
  );

  await takeOver(env);
  const [look = '', doors = ''] = sqlOf(4);
  const [here = '', before = ''] = look.split(/^ *-- In weir_before.*$/m);
  const [people, last] = (await inRestored((pool) => pool.query(here))) as unknown as pg.QueryResult[];
  const since = await weir.pool.query(before.replace(NOBODY, last?.rows[0].first_entry));
  /** The person whom an entry of this kind is about, as a reader finds out. */
  const whom = (action: string): string => {
    const { resource_id } = since.rows.find((entry) => entry.action === action);
    return people?.rows.find(({ id }) => id === resource_id).email;
  };
  expect(['user.delete', 'user.update', 'user.change_password'].map(whom)).toEqual(
    [removed, lowered, changed].map(({ email }) => email),
  );
  expect(since.rows).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ action: 'user.delete', resource_id: removed.id, who: admin.email }),
      expect.objectContaining({ action: 'user.update', resource_id: lowered.id, who: admin.email }),
      expect.objectContaining({ action: 'webhook_endpoint.update', resource_id: moved.id, who: admin.email }),
    ]),
  );
  const ids: Record<string, string> = {
    'DELETE FROM users': removed.id,
    'UPDATE users SET role': lowered.id,
    'UPDATE users SET password_hash[^;]*': changed.id,
    'FROM api_keys': key.id,
    'FROM service_accounts': account.id,
    'FROM service_account_tokens': token.tokenId,
    'UPDATE service_accounts': kept.id,
    'FROM webhook_endpoints': endpoint.id,
    'UPDATE webhook_endpoints': moved.id,
  };
  const mine = Object.entries(ids).reduce(
    (text, [what, id]) => text.replace(new RegExp(`(${what} .*')${NOBODY}`), `$1${id}`),
    doors,
  );
  await inRestored((pool) => pool.query(mine));

  const { url: baseUrl } = await weir.startApi(env);
  const read = async (path: string, options: RequestOptions) =>
    (await weir.request('GET', `/api/v1${path}`, { ...options, baseUrl })).status;
  for (const { session, email, password } of [removed, lowered, changed, admin]) {
    expect(await read('/auth/me', { session }), 'an ended session').toBe(401);
    const { status, body } = await signIn(email, password, baseUrl);
    const isIn = email === lowered.email || email === admin.email;
    expect({ email, status }).toEqual({ email, status: isIn ? 200 : 401 });
    expect(body.user?.role).toBe(isIn ? (email === admin.email ? 'admin' : 'viewer') : undefined);
  }
  const password = 'correct horse battery';
  for (const [path, body] of [
    ['invitation/accept', { token: invitation, password }],
    ['password-reset', { token: reset, new_password: password }],
  ] as const)
    expectProblem(await weir.request('POST', `/api/v1/auth/${path}`, { body, baseUrl }), 404, 'link_not_valid');
  const session = sessionIn(await signIn(admin.email, admin.password, baseUrl));
  expect(await read('/entitlements?customer_external_id=a', { apiKey: key.key })).toBe(401);
  expect(await read('/plans', account.credential)).toBe(401);
  expect(await read('/plans', token.credential)).toBe(401);
  expect(await read('/plans', kept.credential)).toBe(200);
  const plan = await weir.request('POST', '/api/v1/plans', { ...kept.credential, body: {}, baseUrl });
  expect(plan.status, 'what a viewer may not do').toBe(403);
  const endpoints = await weir.request('GET', '/api/v1/webhook-endpoints', { session, baseUrl });
  expect(endpoints.body.data).toMatchObject([{ id: moved.id, status: 'DISABLED' }]);
});

test('who was erased since the backup is found by what had the name, and erased again', async () => {
  const admin = await signUp(weir);
  const { id: meterId } = await admin.createMeter('SUM');
  const record = { external_id: 'ada løvelace', name: 'Ada "Augusta" King', email: 'ada@lovelace.example' };
  const ada = await admin.call('POST', '/customers', record, 201);
  await admin.call('POST', '/customers', { external_id: 'hopper', email: 'grace@hopper.example' }, 201);
  const use = (customer: string) => ({
    meter: { id: meterId, aggregation: 'SUM' as const },
    customer,
    at: new Date().toISOString(),
  });
  await recordUsed(weir, admin.id, ['before ada', 'ada løvelace', 'without a record', 'hopper'].map(use));
  const uncounted = async (customer: string, table: string, columns: string, values: string) =>
    await weir.pool.query(
      `INSERT INTO ${table} (organization_id, id, event, ${columns}) VALUES ($1, $2, $3, ${values})`,
      [admin.id, newId(), JSON.stringify({ customer_external_id: customer, meter_id: meterId, quantity: '1' })],
    );
  const reason = `'${meterId}', 'only rejected', 'no such value'`;
  await uncounted('only rejected', 'rejected_events', 'meter_id, customer_external_id, reason', reason);
  await uncounted('only a duplicate', 'duplicate_events', 'duplicate_of', `'${newId()}'`);
  const backedUpAt = (await weir.pool.query('SELECT now()::text AS at')).rows[0].at;
  const env = await backUp();

  const database = openTestDatabase(weir);
  const move = { from_external_id: 'before ada', to_external_id: 'ada løvelace' };
  await admin.call('POST', '/usage-moves', move, 202);
  await performAllMoves(database);
  const copies = { invoice_copies_issued_before: '2020-01-01' };
  await admin.call('POST', '/erasures', { customer_id: ada.id, ...copies }, 202);
  for (const customer_external_id of ['without a record', 'only rejected', 'only a duplicate', 'hopper'])
    await admin.call('POST', '/erasures', { customer_external_id }, 202);
  await performAllMoves(database);
  await database.close();

  const [list = '', find = ''] = sqlOf(11).map((text) => text.replaceAll('2026-11-07T00:30:00Z', backedUpAt));
  const asked = (await weir.pool.query(list)).rows;
  expect(asked.map(({ kind, from_external_id: from }) => [kind, from])).toEqual([
    ['MOVE', '[erased]'],
    ...Array.from({ length: 5 }, () => ['ERASE', null]),
  ]);
  const { rows: statements } = await weir.pool.query<{ format: string }>(find);
  const names = await inRestored(async (pool) => {
    const found = new Map<string, string>();
    for (const { format } of statements)
      for (const { external_id, erased_to } of (await pool.query(format)).rows) found.set(external_id, erased_to);
    return found;
  });
  expect([...names.keys()].toSorted()).toEqual(
    ['ada løvelace', 'before ada', 'hopper', 'only a duplicate', 'only rejected', 'without a record'].toSorted(),
  );
  await takeOver(env);
  for (const [name, erasedTo] of names) {
    const issued = asked.find(({ to_external_id }) => to_external_id === erasedTo).copies_issued_before;
    const options = issued === null ? [] : ['--copies-issued-before', '2020-01-01'];
    const settings = { ...weir.env, ...env };
    const erased = await runToEnd('apps/admin/dist/main.js', settings, [
      'erase-customer',
      admin.email,
      name,
      ...options,
    ]);
    expect(erased).toMatchObject({ code: 0 });
  }
  const restored = openTestDatabase({ databaseUrl: env['DATABASE_URL'] ?? '' });
  await performAllMoves(restored);
  expect(await findInTables({ ...weir, pool: restored.pool }, ...names.keys(), 'lovelace.example')).toEqual([]);
  await restored.close();
});
