// The steps of docs/operations.md for a restore, walked as they are written: who was shut out since the backup stays out, and no invoice
// that was paid since is asked for a second time.

import type pg from 'pg';
import { Queue } from 'bullmq';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { setBillingTime } from '../support/billing-time.ts';
import { copyDatabase, type DatabaseCopy } from '../support/copy-database.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Answer, type RequestOptions } from '../support/harness.ts';
import { startBilled } from '../support/invoicing.ts';
import { join, sessionIn, tokenIn } from '../support/people.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { runToEnd } from '../support/run-to-end.ts';
import { makeServiceAccount, makeToken } from '../support/service-accounts.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { weirOfEachTest } from '../support/use-weir.ts';

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const [, section = ''] = /^### Restore or move Postgres\n([^]*?)^### /m.exec(page) ?? [];
/** By their numbers. */
const steps = section.split(/^(?=\d+\. )/m);
const sqlOf = (step: number): string[] =>
  [...(steps[step] ?? '').matchAll(/```sql\n([^]*?)```/g)].map(([, text = '']) => text);
/** The settings that a step names, with their values. */
const settingsOf = (step: number): Record<string, string> =>
  Object.fromEntries([...(steps[step] ?? '').matchAll(/`([A-Z_]+)=(\w+)`/g)].map(([, name, value]) => [name, value]));

/** The id that the page has in place of those of its reader. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

let restored: DatabaseCopy | undefined;
let receiver: Receiver | undefined;

afterEach(async () => {
  await receiver?.close();
  await restored?.drop();
  [restored, receiver] = [undefined, undefined];
});
const networks = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
const weir = weirOfEachTest({ api: networks, withWorker: false });
beforeEach(() => {
  weir.pool.on('error', () => {});
});

/** Takes the backup that is restored later, and returns the settings of processes that run on it then. */
async function backUp(): Promise<Record<string, string>> {
  restored = await copyDatabase(weir.databaseUrl);
  return { ...networks, DATABASE_URL: restored.url };
}

/** Does something with a connection to the restored database. */
async function inRestored<Result>(work: (pool: pg.Pool) => Promise<Result>): Promise<Result> {
  const database = openTestDatabase({ databaseUrl: restored?.url ?? '' });
  try {
    return await work(database.pool);
  } finally {
    await database.close();
  }
}

async function takeOver(env: Record<string, string>): Promise<void> {
  expect(await runToEnd('apps/reconcile/dist/take-over-main.js', { ...weir.env, ...env })).toMatchObject({ code: 0 });
}

const signIn = (email: string, password: string, baseUrl: string): Promise<Answer> =>
  weir.request('POST', '/api/v1/auth/login', { body: { email, password }, baseUrl });

test('who was shut out since the backup gets in nowhere, from the first request on', async () => {
  const admin = await signUp(weir);
  const make = async (path: string, body: object, session = admin.session) => {
    const answer = await weir.request('POST', `/api/v1${path}`, { session, body });
    expect(answer.status).toBe(201);
    return answer.body;
  };
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
  const invitation = tokenIn((await make('/invitations', { email: 'invited@example.com', role: 'admin' })).link);
  const reset = tokenIn((await make(`/users/${changed.id}/password-reset`, {})).link);
  const env = await backUp();
  const change = (method: string, path: string, body?: object) =>
    weir.request(method, `/api/v1${path}`, { session: admin.session, ...(body !== undefined && { body }) });
  await change('DELETE', `/users/${removed.id}`);
  await change('PATCH', `/users/${lowered.id}`, { role: 'viewer' });

  await takeOver(env);
  const [look = '', doors = ''] = sqlOf(4);
  const [here = '', before = ''] = look.split(/^ *-- In weir_before.*$/m);
  const [people, last] = (await inRestored((pool) => pool.query(here))) as unknown as pg.QueryResult[];
  expect(people?.rows.map(({ email }) => email)).toContain(removed.email);
  const since = await weir.pool.query(before.replace(NOBODY, last?.rows[0].last_entry));
  expect(since.rows).toMatchObject([
    { action: 'user.delete', resource_id: removed.id, who: admin.email },
    { resource_id: lowered.id, who: admin.email },
  ]);
  const ids: Record<string, string> = {
    'FROM api_keys': key.id,
    'FROM service_accounts': account.id,
    'FROM service_account_tokens': token.tokenId,
    'UPDATE service_accounts': kept.id,
    'FROM webhook_endpoints': endpoint.id,
  };
  const mine = Object.entries(ids)
    .reduce((text, [what, id]) => text.replace(new RegExp(`(${what} .*')${NOBODY}`), `$1${id}`), doors)
    .replace('ada@example.com', removed.email)
    .replace('bob@example.com', lowered.email)
    .replace('eve@example.com', changed.email);
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
  expect(endpoints.body.data).toEqual([]);
});

const asEver = { BILLING_CONCURRENCY: '1', WEBHOOK_CONCURRENCY: '32' };
const often = { ...networks, BILLING_INTERVAL_MS: '100', WEBHOOK_INTERVAL_MS: '100' };

test('what was invoiced and paid since the backup is entered again, and nothing is collected twice', async () => {
  const billed = await startBilled(weir);
  const { admin, subscription, ownCustomer } = billed;
  await billed.close();
  let [baseUrl, session] = [weir.baseUrl, admin.session];
  const send = async (method: string, path: string, body?: object) => {
    const answer = await weir.request(method, `/api/v1${path}`, { session, baseUrl, ...(body && { body }) });
    expect(answer, `${method} ${path}`).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) });
    return answer.body;
  };
  const invoices = async () =>
    (await send('GET', `/subscriptions/${subscription}/invoices?page_size=100`)).data.toReversed() as {
      id: string;
      cycle: number;
      invoice_number: string | null;
      status: string;
      total: string;
    }[];
  const shown = async () =>
    (await invoices()).map(({ invoice_number, status, total }) => ({ invoice_number, status, total }));

  // As docs/guides/services.md has it: what is OPEN is collected, and recorded.
  const collected: unknown[] = [];
  const collect = async (id: unknown) => {
    const invoice = await send('GET', `/invoices/${String(id)}`);
    if (invoice.status !== 'OPEN') return;
    collected.push(invoice.invoice_number);
    const reference = `ch_${invoice.invoice_number}`;
    await send('POST', `/invoices/${invoice.id}/pay`, { amount: invoice.amount_due, reference });
  };
  receiver = await openReceiver(({ data }, response) => {
    collect(data['id']).then(
      () => response.writeHead(204).end(),
      () => response.writeHead(503).end(),
    );
  });
  await send('POST', '/webhook-endpoints', { url: receiver.url, event_types: ['invoice.finalized'] });
  const apiKey = await admin.createKey();
  const use = { meter_token: billed.ownMeter.token, customer_external_id: ownCustomer.external_id, quantity: 100 };
  const track = async () => {
    const body = { ...use, timestamp: '2025-01-20T00:00:00Z', idempotency_key: 'since' };
    expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, baseUrl, body })).status).toBe(201);
    await weir.drained();
  };

  const env = await backUp();
  const backedUpAt = '2025-02-01T00:10:00Z';
  await setBillingTime(weir.pool, '2025-02-01T00:20:00Z');
  const paid = (await invoices())[0]?.id;
  await send('POST', `/invoices/${paid}/pay`, { reference: 'ch_first' });
  const former = await weir.startWorker({ ...often, ...asEver });
  await track();
  await setBillingTime(weir.pool, '2025-02-01T01:10:00Z');
  await until(() => collected.length === 1, 'the draft of the backup is collected');
  await setBillingTime(weir.pool, '2025-03-01T00:05:00Z');
  await until(async () => (await invoices()).length === 3, 'the next draft is made');
  await setBillingTime(weir.pool, '2025-03-01T01:10:00Z');
  await until(async () => (await shown()).every(({ status }) => status === 'PAID'), 'all is collected');
  await former.close();
  const original = await shown();
  expect(original.map(({ total }) => total)).toEqual(['10.00', '11.50', '10.00']);
  expect(collected).toEqual(original.slice(1).map(({ invoice_number }) => invoice_number));

  await inRestored((pool) => setBillingTime(pool, '2025-03-01T09:30:00Z'));
  await takeOver(env);
  await inRestored((pool) => pool.query('DELETE FROM sessions'));
  const startWorker = (settings: object) => weir.startWorker({ ...env, ...often, ...asEver, ...settings });
  let worker = await startWorker(settingsOf(5));
  baseUrl = (await weir.startApi(env)).url;
  session = sessionIn(await signIn(admin.email, admin.password, baseUrl));
  const jobs = new Queue('billing', { connection: weir.redis, prefix: weir.keys.prefix });
  const isLeft = async () => (await jobs.getWaiting()).some(({ name }) => name === 'finalize');
  await until(async () => collected.length > 2 || (await isLeft()), 'it is found what is due');
  await jobs.close();
  expect(collected).toHaveLength(2);
  await track();
  expect(await shown()).toMatchObject([{ status: 'OPEN' }, { status: 'DRAFT' }]);
  await send('POST', `/invoices/${paid}/pay`, { reference: 'ch_first' });

  const [list = '', hold = ''] = sqlOf(12);
  const listed = (await weir.pool.query(
    list.replaceAll('2026-11-07T00:30:00Z', backedUpAt),
  )) as unknown as pg.QueryResult[];
  expect(listed.map(({ rows }) => rows.length)).toEqual([2, 3]);
  const { rows: held } = await inRestored((pool) => pool.query<{ id: string }>(hold));
  expect(held).toEqual([{ id: admin.id }]);
  await worker.close();
  worker = await startWorker({ WEBHOOK_CONCURRENCY: '0' });
  await until(async () => (await invoices()).length === 3, 'drafts are made');
  for (const { invoice_number, cycle, total } of listed[0]?.rows ?? []) {
    const draft = (await invoices()).find((invoice) => invoice.cycle === cycle);
    const { id } = await send('POST', `/invoices/${draft?.id}/finalize`);
    expect(await send('GET', `/invoices/${id}`)).toMatchObject({ invoice_number, total, status: 'OPEN' });
    await send('POST', `/invoices/${id}/pay`, { reference: `ch_${invoice_number}` });
  }
  expect(await shown()).toEqual(original);
  expect(receiver.received).toHaveLength(2);

  const [, release = ''] =
    /`(UPDATE organizations SET finalize = 'automatic' WHERE id IN )\(…\)`/.exec(steps[13] ?? '') ?? [];
  await inRestored((pool) => pool.query(`${release} ('${admin.id}')`));
  await worker.close();
  worker = await startWorker({});
  await until(() => receiver?.received.length === 4, 'the receiver hears of both again');
  const { data } = await send('GET', '/webhook-endpoints');
  await until(
    async () => (await send('GET', `/webhook-endpoints/${data[0].id}/deliveries?status=PENDING`)).data.length === 0,
    'it has done what it does',
  );
  expect(collected).toEqual(original.slice(1).map(({ invoice_number }) => invoice_number));
  expect(await shown()).toEqual(original);
  await worker.close();
});
