// The steps of docs/operations.md for a restore, walked as they are written: who was shut out since the backup stays out.

import type pg from 'pg';
import { expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Answer, type RequestOptions } from '../support/harness.ts';
import { join, sessionIn, tokenIn } from '../support/people.ts';
import { NOBODY, restoreOfEachTest, sqlOf } from '../support/restore.ts';
import { makeServiceAccount, makeToken } from '../support/service-accounts.ts';

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
