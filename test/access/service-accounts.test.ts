// What services do by themselves: accounts with roles and tokens. Which operations each role opens: credentials.test.ts.

import { LIMITS } from '@weir/shared/limits';
import { beforeAll, expect, test } from 'vitest';
import { besideOther } from '../support/beside-other.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Answer, type Organization, type RequestOptions } from '../support/harness.ts';
import { bearer, makeServiceAccount, makeToken } from '../support/service-accounts.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let session: string;

beforeAll(async () => {
  admin = await signUp(weir);
  ({ session } = admin);
});

const ask = (method: string, path: string, options: RequestOptions = { session }): Promise<Answer> =>
  weir.request(method, `/api/v1${path}`, options);
const keyed = (key: string, { headers }: RequestOptions, body: object): RequestOptions => ({
  headers: { ...headers, 'idempotency-key': key },
  body,
});

test('an account and its tokens are made, listed, changed and deleted, and a token is shown once', async () => {
  const created = await ask('POST', '/service-accounts', { session, body: { name: 'Nightly', role: 'biller' } });
  expect(created.status).toBe(201);
  const account = created.body;
  const { id } = account;
  expect(account).toEqual({
    id: expect.any(String),
    name: 'Nightly',
    role: 'biller',
    token_count: 0,
    last_used_at: null,
    created_at: expect.any(String),
  });
  const expires_at = '2100-01-01T00:00:00.000Z';
  const made = await ask('POST', `/service-accounts/${id}/tokens`, { session, body: { name: 'Host 1', expires_at } });
  expect(made.status).toBe(201);
  const { token, ...shown } = made.body;
  expect(token).toMatch(/^org_svc_[0-9A-Za-z]{49}$/);
  expect(shown).toEqual({
    id: expect.any(String),
    name: 'Host 1',
    last4: token.slice(-4),
    expires_at,
    last_used_at: null,
    created_at: expect.any(String),
  });
  expect((await ask('GET', `/service-accounts/${id}/tokens`)).body).toMatchObject({
    data: [shown],
    meta: { total: 1 },
  });
  expect((await ask('GET', `/service-accounts/${id}`)).body).toEqual({ ...account, token_count: 1 });
  const patched = await ask('PATCH', `/service-accounts/${id}`, { session, body: { name: 'Daily' } });
  expect(patched.body).toEqual({ ...account, name: 'Daily', token_count: 1 });
  const { rows } = await weir.pool.query('SELECT * FROM service_account_tokens WHERE id = $1', [shown.id]);
  expect(JSON.stringify(rows)).not.toContain(token);
  expect((await ask('DELETE', `/service-accounts/${id}/tokens/${shown.id}`)).status).toBe(204);
  expectProblem(await ask('DELETE', `/service-accounts/${id}/tokens/${shown.id}`), 404, 'not_found');
  expect((await ask('DELETE', `/service-accounts/${id}`)).status).toBe(204);
  for (const path of [`/service-accounts/${id}`, `/service-accounts/${id}/tokens`])
    expectProblem(await ask('GET', path), 404, 'not_found');
});

test('a role that is changed holds from the next request on', async () => {
  const { id, credential } = await makeServiceAccount(weir, admin, 'admin');
  const customer = () => ask('POST', '/customers', { ...credential, body: {} });
  expect((await customer()).status).toBe(201);
  await ask('PATCH', `/service-accounts/${id}`, { session, body: { role: 'viewer' } });
  const refused = await customer();
  expectProblem(refused, 403, 'missing_role');
  expect(refused.body.detail).toContain('biller');
  expect((await ask('GET', '/customers', credential)).status).toBe(200);
});

test('an account that is admin makes accounts and tokens, and replaces its own token without a gap', async () => {
  const first = await makeServiceAccount(weir, admin, 'admin');
  const made = await ask('POST', '/service-accounts', { ...first.credential, body: { name: 'Other', role: 'viewer' } });
  expect(made.status).toBe(201);
  const path = `/service-accounts/${first.id}/tokens`;
  const second = await ask('POST', path, { ...first.credential, body: { name: 'Second' } });
  const both = [first.credential, bearer(second.body.token)];
  for (const credential of both) expect((await ask('GET', '/organization', credential)).status).toBe(200);
  expect((await ask('DELETE', `${path}/${first.tokenId}`, both[1])).status).toBe(204);
  const after = await Promise.all(both.map((credential) => ask('GET', '/organization', credential)));
  expect(after.map(({ status }) => status)).toEqual([401, 200]);
});

test('a deleted token is refused on every process from the answer on, under load', async () => {
  const other = await weir.spawnApi();
  try {
    const kinds = [await makeServiceAccount(weir, admin, 'viewer'), await makeServiceAccount(weir, admin, 'viewer')];
    const paths = kinds.map(({ id, tokenId }, at) => (at === 0 ? `${id}/tokens/${tokenId}` : id));
    for (const [at, { credential }] of kinds.entries()) {
      let isDeleted = false;
      let isOver = false;
      const answers = { before: [] as number[], after: [] as number[] };
      const client = async (baseUrl: string): Promise<void> => {
        while (!isOver) {
          const side = isDeleted ? 'after' : 'before';
          answers[side].push((await ask('GET', '/organization', { ...credential, baseUrl })).status);
        }
      };
      const clients = [weir.baseUrl, other.url].flatMap((url) => [client(url), client(url)]);
      await until(() => answers.before.length > 50, 'the load is under way');
      expect((await ask('DELETE', `/service-accounts/${paths[at]}`)).status).toBe(204);
      isDeleted = true;
      await until(() => answers.after.length > 50, 'as much has been asked again');
      isOver = true;
      await Promise.all(clients);
      expect(answers.before[0]).toBe(200);
      expect(new Set(answers.after)).toEqual(new Set([401]));
    }
  } finally {
    await other.stop();
  }
});

test('a token opens nothing from its end on, which has to be in the future', async () => {
  const { id } = await makeServiceAccount(weir, admin, 'viewer');
  const make = (expires_at: unknown) =>
    ask('POST', `/service-accounts/${id}/tokens`, { session, body: { name: 'x', expires_at } });
  const tooLate = ['2500-01-01T00:00:00Z', '9999-12-31T23:59:59-05:00'];
  for (const wrong of ['2020-01-01T00:00:00Z', '2030-01-01', ...tooLate, 'soon', 7])
    expectProblem(await make(wrong), 422, 'invalid_request');
  const unclear = 'SELECT action FROM audit_entries WHERE organization_id = $1 AND NOT is_done';
  expect((await weir.pool.query(unclear, [admin.id])).rows).toEqual([]);
  const ends = new Date(Date.now() + 3_600_000).toISOString();
  const { credential } = await makeToken(weir, admin, id, { expires_at: ends });
  const status = async () => (await ask('GET', '/organization', credential)).status;
  expect(await status()).toBe(200);
  await weir.pool.query('UPDATE service_account_tokens SET expires_at = now() WHERE service_account_id = $1', [id]);
  expect(await status()).toBe(401);
});

test('an organization has so many accounts and an account so many tokens, also where all are made at once', async () => {
  const crowded = await signUp(weir);
  const { id } = await makeServiceAccount(weir, crowded, 'viewer');
  const token = () => ask('POST', `/service-accounts/${id}/tokens`, { session: crowded.session, body: { name: 'x' } });
  const made = await Promise.all(Array.from({ length: LIMITS.serviceTokens + 4 }, token));
  expect(made.filter(({ status }) => status === 201)).toHaveLength(LIMITS.serviceTokens - 1);
  expectProblem(await token(), 422, 'invalid_request');
  await weir.pool.query(
    `INSERT INTO service_accounts (organization_id, id, name, role)
     SELECT $1, gen_random_uuid(), 'x', 'viewer' FROM generate_series(2, $2::int)`,
    [crowded.id, LIMITS.serviceAccounts - 1],
  );
  const other = `INSERT INTO service_accounts (organization_id, id, name, role)
    VALUES ($1, gen_random_uuid(), 'x', 'viewer')`;
  const body = { name: 'One more', role: 'viewer' };
  const account = () => ask('POST', '/service-accounts', { session: crowded.session, body });
  const refused = await besideOther(weir, crowded.id, other, account);
  expectProblem(refused, 422, 'invalid_request');
  expect(refused.body.detail).toContain(String(LIMITS.serviceAccounts));
});

test('an organization has so many API keys, also where all are made at once', async () => {
  const crowded = await signUp(weir);
  const insert = `INSERT INTO api_keys (organization_id, id, name, key_hash, scopes)
    SELECT $1, gen_random_uuid(), 'x', sha256(gen_random_uuid()::text::bytea), '{usage.read}'`;
  await weir.pool.query(`${insert} FROM generate_series(2, $2::int)`, [crowded.id, LIMITS.apiKeys]);
  const body = { name: 'One more', scopes: ['usage.read'] };
  const key = () => ask('POST', '/api-keys', { session: crowded.session, body });
  const refused = await besideOther(weir, crowded.id, insert, key);
  expectProblem(refused, 422, 'invalid_request');
  expect(refused.body.detail).toContain(String(LIMITS.apiKeys));
});

test('the audit log and the feed name the account, and keep its name when it is deleted', async () => {
  const { id, credential } = await makeServiceAccount(weir, admin, 'biller', 'Payments');
  const { body: customer } = await ask('POST', '/customers', { ...credential, body: {} });
  const credit = { amount: '5.00', currency: 'USD' };
  await ask('POST', `/customers/${customer.id}/credits`, { ...credential, body: credit });
  await ask('PATCH', `/service-accounts/${id}`, { session, body: { name: 'Renamed' } });
  await ask('DELETE', `/service-accounts/${id}`);
  const { body: log } = await ask('GET', `/audit-log?resource_id=${customer.id}`);
  expect(log.data).toMatchObject([
    { action: 'customer.create', actor: { type: 'service_account', id, email: null, name: 'Payments' } },
  ]);
  const { body: all } = await ask('GET', `/audit-log?actor_id=${id}`);
  expect(all.data.map(({ action }: { action: string }) => action)).toEqual(['credit.create', 'customer.create']);
  expect((await ask('GET', `/audit-log?user_id=${id}`)).body.data).toEqual([]);
  const { body: own } = await ask('GET', `/audit-log?resource_id=${id}`);
  expect(own.data.map(({ action }: { action: string }) => action)).toEqual([
    'service_account.delete',
    'service_account.update',
    'service_account.create',
  ]);
  const { body: feed } = await ask('GET', '/billing-events');
  expect(feed.data.at(-1)).toMatchObject({ type: 'credit.granted', actor: `service_account:${id}` });
});

test('an Idempotency-Key is the account’s, whichever token sends it, and a token is repeated as null', async () => {
  const one = await makeServiceAccount(weir, admin, 'admin');
  const rotated = await makeToken(weir, admin, one.id);
  const other = await makeServiceAccount(weir, admin, 'admin');
  const create = (credential: RequestOptions, name: string) =>
    ask('POST', '/customers', keyed('the-same-key', credential, { name }));
  const first = await create(one.credential, 'Ada');
  const again = await create(rotated.credential, 'Ada');
  expect([again.status, again.body]).toEqual([201, first.body]);
  expect(again.headers.get('idempotent-replay')).toBe('true');
  expectProblem(await create(rotated.credential, 'Bob'), 422, 'idempotency_key_reused');
  expect((await create(other.credential, 'Bob')).status).toBe(201);

  const token = () => ask('POST', `/service-accounts/${one.id}/tokens`, keyed('token', one.credential, { name: 'x' }));
  const made = await token();
  const repeated = await token();
  expect(repeated.body).toEqual({ ...made.body, token: null });
  expect(repeated.headers.get('idempotent-withheld')).toBe('token');
  expect((await ask('GET', `/service-accounts/${one.id}`)).body.token_count).toBe(3);
});

test('a token is not bound to an origin as a cookie is, and beside a cookie or a key it is refused', async () => {
  const { credential } = await makeServiceAccount(weir, admin, 'biller');
  const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' };
  const headers = { ...credential.headers, ...foreign };
  expect((await ask('POST', '/customers', { headers, body: {} })).status).toBe(201);
  expectProblem(await ask('POST', '/customers', { session, headers: foreign, body: {} }), 403, 'cross_origin');
  expectProblem(await ask('GET', '/customers', { session, ...credential }), 400, 'two_credentials');
  // Nor beside an API key, also where none opens anything.
  const both = { headers: { ...credential.headers, 'x-api-key': await admin.createKey() } };
  for (const path of ['/plans', '/meters']) expectProblem(await ask('GET', path, both), 400, 'two_credentials');
  // The cookies of others are nobody's credential.
  const sticky = { ...credential.headers, cookie: 'lb=1' };
  expect((await ask('GET', '/customers', { headers: sticky })).status).toBe(200);
});
