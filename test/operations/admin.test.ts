// `npm run admin`: how whoever runs a Weir helps people into their accounts.

import { placeOf } from '@weir/shared/services-file';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { signUp, type Organization } from '../support/harness.ts';
import { join, tokenIn, type Member } from '../support/people.ts';
import { runToEnd } from '../support/run-to-end.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let viewer: Member;

beforeAll(async () => {
  admin = await signUp(weir);
  viewer = await join(weir, admin, 'viewer');
});

const PUBLIC_URL = 'https://billing.example.com';
const run = (args: string[], env: Record<string, string> = { DATABASE_URL: weir.databaseUrl, PUBLIC_URL }) =>
  runToEnd('apps/admin/dist/main.js', { WEIR_HOME: '/nowhere', ...env }, args);
const logged = async () =>
  (await weir.request('GET', '/api/v1/audit-log?limit=1', { session: admin.session })).body.data[0];

test('a lost password is set anew by a link that it prints, which stands in the audit log', async () => {
  const { code, out, err } = await run(['reset-password', admin.email.toUpperCase()]);
  expect([code, err]).toEqual([0, '']);
  const link = out.split('\n')[0] ?? '';
  expect(link).toMatch(/^https:\/\/billing\.example\.com\/password-reset#rst_/);
  const operator = { type: 'operator', id: null, email: null };
  expect(await logged()).toMatchObject({ action: 'user.make_reset_link', actor: operator, outcome: 'done' });
  const body = { token: tokenIn(link), new_password: 'another horse battery' };
  const answer = await weir.request('POST', '/api/v1/auth/password-reset', { body });
  expect(answer).toMatchObject({ status: 200, body: { user: { email: admin.email } } });
  admin.session = /access_token=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
});

test('all who can sign in are listed, and one of them is made an admin', async () => {
  const before = await run(['list-users']);
  expect(before.code).toBe(0);
  expect(before.out.split('\n').map((line) => line.split(/ {2,}/).slice(0, 2))).toEqual([
    ['EMAIL', 'ROLE'],
    [admin.email, 'admin'],
    [viewer.email, 'viewer'],
    [''],
  ]);
  const made = await run(['make-admin', viewer.email]);
  expect([made.code, made.out]).toEqual([0, expect.stringContaining(`${viewer.email} is an admin of`)]);
  expect(await logged()).toMatchObject({ action: 'user.update', resource_id: viewer.id, changes: { role: 'admin' } });
  const me = await weir.request('GET', '/api/v1/auth/me', { session: viewer.session });
  expect(me.body.user.role).toBe('admin');
});

test('a customer is erased, and usage moved, which stands in the audit log without a name', async () => {
  const record = { external_id: 'ada-17', name: 'Ada Lovelace' };
  await weir.request('POST', '/api/v1/customers', { session: admin.session, body: record });
  const erased = await run(['erase-customer', admin.email, 'ada-17']);
  expect([erased.code, erased.out]).toEqual([
    0,
    expect.stringMatching(/Its record is erased.*external_id erased-[0-9a-f]{32}/),
  ]);
  expect(await logged()).toMatchObject({ action: 'erasure.create', actor: { type: 'operator' }, changes: null });
  const { body } = await weir.request('GET', '/api/v1/customers', { session: admin.session });
  expect(JSON.stringify(body)).not.toMatch(/ada-17|Lovelace/);
  const again = await run(['erase-customer', admin.email, 'ada-17']);
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('is being moved already')]);
  expect((await run(['move-usage', admin.email, 'wrong', 'wrong'])).code).toBe(1);
  expect((await run(['move-usage', admin.email, 'wrong', 'right'])).code).toBe(0);
  const { out } = await run(['list-erasures', admin.email]);
  expect(out.split('\n').map((line) => line.split(/ {2,}/)[1])).toEqual(['KIND', 'MOVE', 'ERASE', undefined]);

  // Once the copies on its invoices may go, they do by the id that it has then.
  const [, pseudonym = ''] = /external_id (erased-\w+)/.exec(erased.out) ?? [];
  await weir.pool.query(
    `UPDATE usage_moves SET finished_at = now(), from_external_id = NULL WHERE to_external_id = $1`,
    [pseudonym],
  );
  const dated = (date: string) => run(['erase-customer', admin.email, pseudonym, '--copies-issued-before', date]);
  const wrong = await dated('2026-02-30');
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('It is not a date of the calendar.')]);
  expect((await dated('2026-01-01')).code).toBe(0);
  const { rows } = await weir.pool.query(
    `SELECT copies_issued_before::text FROM usage_moves WHERE kind = 'ERASE' ORDER BY id`,
  );
  expect(rows).toEqual([{ copies_issued_before: null }, { copies_issued_before: '2026-01-01' }]);
});

test.each([
  ['external-id', 'erase-customer', ['']],
  ['from-external-id', 'move-usage', ['a'.repeat(256), 'right']],
  ['to-external-id', 'move-usage', ['wrong', '']],
])('%s of %s is one that a request can have', async (argument, command, ids) => {
  const count = async () => (await weir.pool.query('SELECT FROM usage_moves')).rowCount;
  const before = await count();
  const { code, err } = await run([command, admin.email, ...ids]);
  expect([code, err]).toEqual([2, expect.stringContaining(`'${argument}'. It must have 1 to 255 characters.`)]);
  expect(await count()).toBe(before);
});

test('without settings it finds what npm start brought up, and where its API is', async () => {
  const home = await mkdtemp(joinPath(tmpdir(), 'weir-admin-'));
  const services = { database_url: weir.databaseUrl, base_url: 'http://127.0.0.1:3210' };
  await writeFile(joinPath(home, 'services.json'), JSON.stringify(services));
  const { code, out } = await run(['reset-password', viewer.email], { WEIR_HOME: home });
  await rm(home, { recursive: true });
  expect([code, out]).toEqual([0, expect.stringMatching(/^http:\/\/127\.0\.0\.1:3210\/password-reset#rst_/)]);
});

test('what npm start brought up says nothing of another database that is given', async () => {
  const home = await mkdtemp(joinPath(tmpdir(), 'weir-admin-'));
  const env = { WEIR_HOME: home, DATABASE_URL: weir.databaseUrl };
  const reset = async (services: object) => {
    await writeFile(joinPath(home, 'services.json'), JSON.stringify(services));
    return await run(['reset-password', viewer.email], env);
  };
  const base_url = 'http://127.0.0.1:3210';
  const other = await reset({ database_url: 'postgres://127.0.0.1:1/weir', base_url });
  expect(other).toMatchObject({ code: 2, out: '', err: expect.stringContaining('PUBLIC_URL is not set') });
  const given = await reset({ given: { DATABASE_URL: placeOf(weir.databaseUrl) }, base_url });
  expect(given).toMatchObject({ code: 0, out: expect.stringContaining(base_url) });
  await rm(home, { recursive: true });
});

test.concurrent.each<[string, string[], Record<string, string> | undefined, number, RegExp]>([
  ['an address that nobody has', ['reset-password', 'nobody@example.com'], undefined, 1, /no account with the email/],
  ['no command', [], undefined, 2, /reset-password <email>/],
  ['an unknown command', ['delete-everything'], undefined, 2, /unknown command .*--help/],
  ['no database', ['list-users'], {}, 2, /DATABASE_URL is not set/],
  [
    'a database that is away',
    ['list-users'],
    { DATABASE_URL: 'postgres://127.0.0.1:1/x' },
    2,
    /Postgres cannot be read/,
  ],
])('%s is told in a line', async (_, args, env, status, says) => {
  const { code, err } = await run(args, env);
  expect([code, err]).toEqual([status, expect.stringMatching(says)]);
});

test('a link that would lead nowhere is not made', async () => {
  const count = async () => (await weir.pool.query('SELECT FROM password_resets')).rowCount;
  const before = await count();
  const { code, err } = await run(['reset-password', viewer.email], { DATABASE_URL: weir.databaseUrl });
  expect([code, err]).toEqual([2, expect.stringContaining('PUBLIC_URL is not set')]);
  expect(await count()).toBe(before);
});
