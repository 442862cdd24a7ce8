// Whatever happens, and however much is logged, no secret stands in a line that a process writes. Real processes, at the
// level that writes the most.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { spawnCaptured, type Captured } from '../support/captured.ts';
import { signUp, until, type Answer, type RequestOptions, type Weir } from '../support/harness.ts';
import { runToEnd } from '../support/run-to-end.ts';
import { ownWeir } from '../support/use-weir.ts';

const API = 'apps/api/dist/main.js';
const WORKER = 'apps/worker/dist/main.js';

/** What must not be read anywhere, by what it is. */
const secrets = new Map<string, string>();
function secret(what: string, value = `s3cret-${randomBytes(12).toString('hex')}`): string {
  secrets.set(what, value);
  return value;
}
const processes: Captured[] = [];

const weir = ownWeir({ withWorker: false });
let env: Record<string, string>;
const redisUser = `weir-test-${randomBytes(6).toString('hex')}`;

beforeAll(async () => {
  const redisPassword = secret('the password of Redis');
  await weir.redis.acl('SETUSER', redisUser, 'on', `>${redisPassword}`, '~*', '&*', '+@all');
  env = {
    ...weir.env,
    LOG_LEVEL: 'trace',
    DATABASE_URL: withPassword(weir.databaseUrl, undefined, secret('the password of Postgres', passwordOf(weir))),
    REDIS_URL: withPassword(weir.env['REDIS_URL'] ?? '', redisUser, redisPassword),
  };
});
afterAll(async () => {
  for (const process of processes) await process.stop();
  await weir.redis.acl('DELUSER', redisUser);
});

/** Postgres may ask for its password, or take any. */
function passwordOf({ databaseUrl }: Weir): string {
  return decodeURIComponent(new URL(databaseUrl).password) || `s3cret-${randomBytes(12).toString('hex')}`;
}

function withPassword(address: string, username: string | undefined, password: string): string {
  const url = new URL(address);
  if (username !== undefined) url.username = username;
  url.password = password;
  return url.href;
}

async function start(main: string, settings: Record<string, string> = {}): Promise<Captured> {
  const started = await spawnCaptured(main, { ...env, ...settings });
  processes.push(started);
  return started;
}

const post = (api: Captured, path: string, options: RequestOptions = {}): Promise<Answer> =>
  weir.request('POST', `/api/v1${path}`, { baseUrl: api.url, ...options });
const get = (api: Captured, path: string, options: RequestOptions = {}): Promise<Answer> =>
  weir.request('GET', `/api/v1${path}`, { baseUrl: api.url, ...options });
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const sessionOf = (answer: Answer) => /access_token=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';

/** Sends bytes as they are, and waits until the server has hung up. */
async function sendRaw(api: Captured, text: string): Promise<void> {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  socket.resume().on('error', () => {});
  socket.write(text);
  await once(socket, 'close');
}

/** What people and services do with an API, right and wrong. Answers the credentials that it left open. */
async function use(api: Captured) {
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  const password = secret('the password of an account');
  const body = { email, password, organization_name: 'Logged' };
  secret('the session of the sign-up', sessionOf(await post(api, '/auth/signup', { body })));
  const login = await post(api, '/auth/login', { body: { email, password } });
  const session = secret('the session of the sign-in', sessionOf(login));
  const wrong = secret('a wrong password');
  for (const attempt of [
    { email, password: wrong },
    { email: `${wrong}@example.com`, password },
  ])
    expect((await post(api, '/auth/login', { body: attempt })).status).toBe(401);
  expect((await post(api, '/auth/login', { raw: `{"email": "${email}", "password": "${password}"` })).status).toBe(400);
  expect((await post(api, '/auth/login', { body: { email, password, [password]: password } })).status).toBe(422);

  const invited = await post(api, '/invitations', { session, body: { email: `2${email}`, role: 'viewer' } });
  const invitation = secret('the token of an invitation', new URL(invited.body.link).hash.slice(1));
  const joining = secret('the password of somebody who joins');
  const joined = await post(api, '/auth/invitation/accept', { body: { token: invitation, password: joining } });
  expect(joined.status).toBe(201);
  secret('the session of somebody who joins', sessionOf(joined));
  const { body: reset } = await post(api, `/users/${joined.body.user.id}/password-reset`, { session });
  const resetting = secret('the token of a link for a new password', new URL(reset.link).hash.slice(1));
  const renewed = { token: resetting, new_password: secret('a password that is set by a link') };
  expect((await post(api, '/auth/password-reset', { body: renewed })).status).toBe(200);
  expect((await post(api, '/auth/password-reset', { body: renewed })).status).toBe(404);
  const changed = { current_password: wrong, new_password: secret('a password that is changed to') };
  expect((await post(api, '/auth/password', { session, body: changed })).status).toBe(422);

  const key = { name: 'Key', scopes: ['usage.write', 'usage.read'] };
  const apiKey = secret('an API key', (await post(api, '/api-keys', { session, body: key })).body.key);
  const feature = { name: 'Seats', lookup_key: randomBytes(6).toString('hex'), type: 'meter' };
  const meter = await post(api, '/features', { session, body: { ...feature, aggregation_type: 'UNIQUE_COUNT' } });
  const event = {
    meter_token: meter.body.meter_token,
    customer_external_id: 'acme',
    quantity: 1,
    metadata: { note: secret('the metadata of an event') },
  };
  expect((await post(api, '/sdk/track', { apiKey, body: event })).status).toBe(201);
  await post(api, '/sdk/track', { apiKey: `${apiKey}x`, body: event });
  await post(api, '/sdk/track', { apiKey, raw: `{"quantity": ${apiKey}` });
  await post(api, '/sdk/track/batch', { apiKey, body: { events: [event, { ...event, quantity: apiKey }] } });

  const { body: widget } = await post(api, '/widget/token', { apiKey, body: { customer_external_id: 'acme' } });
  const token = secret('a widget token', widget.token);
  expect((await get(api, '/widget/usage', bearer(token))).status).toBe(200);
  await get(api, '/widget/usage', bearer(`${token}x`));
  await get(api, '/plans', { ...bearer(token), session, apiKey });

  const account = (await post(api, '/service-accounts', { session, body: { name: 'x', role: 'admin' } })).body.id;
  const tokens = `/service-accounts/${account}/tokens`;
  const made = await post(api, tokens, { session, body: { name: 'x' } });
  const service = secret('a token of a service account', made.body.token);
  expect((await get(api, '/plans', bearer(service))).status).toBe(200);
  await get(api, '/plans', bearer(`${service}x`));

  // Where they do not belong.
  for (const leak of [apiKey, service, token, session, password]) {
    await get(api, `/nothing?key=${leak}`);
    await get(api, `/plans/${leak}`, { session });
    await get(api, `/plans?${leak}=1`, { session });
    await sendRaw(api, `GET /${leak}%zz HTTP/1.1\r\nhost: weir\r\nconnection: close\r\n\r\n`);
    await sendRaw(api, `NOT HTTP ${leak}\r\nx-api-key: ${leak}\r\n\r\n`);
    await sendRaw(
      api,
      `GET / HTTP/1.1\r\nhost: weir\r\ncookie: access_token=${leak}\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
    );
  }
  return { session, apiKey, token, event, email, password };
}

/** An admin with a key and an event to send, made by a process that is well. */
async function admin() {
  const { createKey, createMeter, session, email, password } = await signUp(weir);
  secret('the session of an admin', session);
  secret('the password of an admin', password);
  const apiKey = secret('the API key of an admin', await createKey());
  const { token } = await createMeter('SUM');
  return { apiKey, session, email, password, event: { meter_token: token, customer_external_id: 'acme', quantity: 1 } };
}

function expectNoSecret(output: string): void {
  expect(secrets.size).toBeGreaterThan(0);
  for (const [what, value] of secrets) {
    expect(value.length, what).toBeGreaterThanOrEqual(8);
    const line = output.split('\n').find((each) => each.includes(value) || each.includes(encodeURIComponent(value)));
    expect(line, what).toBeUndefined();
  }
}

describe('no secret is logged', () => {
  test('while all is well, nor when a request breaks', async () => {
    const [api, worker] = [await start(API), await start(WORKER)];
    const { session, apiKey, token, event, email, password } = await use(api);
    await weir.drained();
    // A defect, as far as the API can tell: what it asks for is not there.
    const tables = ['sessions', 'users', 'api_keys', 'widget_tokens', 'meters'];
    for (const table of tables) await weir.pool.query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
    const broken = [
      await get(api, '/plans', { session }),
      await get(api, '/features', { apiKey }),
      await get(api, '/widget/usage', bearer(token)),
      await post(api, '/auth/login', { body: { email, password } }),
      await post(api, '/widget/token', { apiKey, body: { customer_external_id: 'acme' } }),
    ];
    expect(broken.map(({ status }) => status)).toEqual(Array<number>(broken.length).fill(500));
    await post(api, '/sdk/track', { apiKey, body: event });
    await until(() => worker.output().length > 0, 'the worker has said something');
    for (const table of tables) await weir.pool.query(`ALTER TABLE ${table}_away RENAME TO ${table}`);
    expect((await post(api, '/auth/logout', { session })).status).toBe(204);
    await weir.drained();

    for (const process of [api, worker]) await process.stop();
    for (const line of ['signed in', 'a sign-in failed', 'a request failed', 'relation \\"sessions\\" does not exist'])
      expect(api.output()).toContain(line);
    expectNoSecret(api.output() + worker.output());
  });

  // Nothing listens on port 1.
  test.each<[string, (wrong: string) => Record<string, string>]>([
    ['Postgres cannot be reached', (wrong) => ({ DATABASE_URL: `postgres://weir:${wrong}@127.0.0.1:1/weir` })],
    ['Redis cannot be reached', (wrong) => ({ REDIS_URL: `redis://:${wrong}@127.0.0.1:1/0` })],
    [
      'Postgres does not know the user',
      (wrong) => ({ DATABASE_URL: withPassword(weir.databaseUrl, `nobody_${randomBytes(6).toString('hex')}`, wrong) }),
    ],
    [
      'Redis does not take the password',
      (wrong) => ({ REDIS_URL: withPassword(env['REDIS_URL'] ?? '', redisUser, wrong) }),
    ],
  ])('while %s', async (_, settings) => {
    const { apiKey, session, email, password, event } = await admin();
    const wrong = secret('a password that is not taken');
    const api = await start(API, { ...settings(wrong), REDIS_COMMAND_TIMEOUT_MS: '500' });
    await post(api, '/auth/login', { body: { email, password } });
    await get(api, '/plans', { session });
    await post(api, '/sdk/track', { apiKey, body: event });
    await post(api, '/api-keys', { session, body: { name: 'Key', scopes: ['usage.read'] } });
    await weir.request('GET', '/readyz', { baseUrl: api.url });
    await until(() => /"level":[45]0/.test(api.output()), 'it is told');
    await api.stop();
    expectNoSecret(api.output());
  });

  test('while Redis refuses its commands, which it names', async () => {
    const { apiKey, email, password, event } = await admin();
    await weir.redis.acl('SETUSER', redisUser, '-evalsha', '-eval', '-rpush', '-set');
    const api = await start(API);
    await post(api, '/sdk/track', { apiKey, body: { ...event, metadata: { note: secret('refused metadata') } } });
    await post(api, '/auth/login', { body: { email, password } });
    await api.stop();
    await weir.redis.acl('SETUSER', redisUser, '+@all');
    expect(api.output()).toContain('NOPERM');
    expectNoSecret(api.output());
  });

  test.each([API, WORKER])('when a setting makes no sense: %s', async (main) => {
    const password = secret('the password in a setting');
    const bad = { DATABASE_URL: `mysql://weir:${password}@db/weir`, REDIS_URL: `${password}@redis:6379` };
    const { err } = await runToEnd(main, { ...env, ...bad });
    expect(err).toMatch(/^Cannot start: DATABASE_URL: [^\n]*REDIS_URL: /);
    expectNoSecret(err);
  });
});
