// Postgres with a synchronous standby: what is said to be there is on the standby too, whatever cut the wait for it short.

import { LOOKUP_MS_MAX } from '@weir/api/serve';
import type { NewFeedEvent } from '@weir/billing/feed-events';
import { addAcceptedCounts } from '@weir/db/accepted';
import { appendFeed, listFeed } from '@weir/db/billing/feed';
import { recordPayment } from '@weir/db/billing/run/record-payment';
import { deleteCustomer, insertCustomer } from '@weir/db/customers';
import {
  isDatabaseAway,
  isStandbyAway,
  isUnavailable,
  openDatabase,
  StandbyAway,
  type Database,
  type Queries,
} from '@weir/db/database';
import { findRisks } from '@weir/db/installation';
import { migrate } from '@weir/db/migrate';
import { claimKeys } from '@weir/db/pending-claims';
import { recordEvents } from '@weir/db/record';
import { recordDirectly } from '@weir/db/record-directly';
import { findRequestKey, holdRequestKey, insertRequestKey } from '@weir/db/request-keys';
import { openServerWatch } from '@weir/db/server-watch';
import { BARRIER } from '@weir/db/standby';
import { explainUnreachable } from '@weir/db/unreachable';
import { receivedAt } from '@weir/shared/event';
import { newId } from '@weir/shared/ids';
import { createLog } from '@weir/shared/log';
import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { fixedCharge, makeCustomer, makePricedPlan } from '../support/billing-fixture.ts';
import { signUp, until, type Answer, type Organization, type RequestOptions } from '../support/harness.ts';
import { readOpenapi } from '../support/openapi-document.ts';
import { openPostgresPair, type PostgresPair } from '../support/postgres-pair.ts';
import { queryOnce } from '../support/setup/query.ts';
import { ownWeir } from '../support/use-weir.ts';

let pair: PostgresPair;
/** After the API and the worker that use it have closed. */
afterAll(() => pair?.close());

const weir = ownWeir({ lookupMsMax: LOOKUP_MS_MAX, withWorker: false });
let database: Database;
let env: Record<string, string>;
let admin: Organization;
/** An API on the pair. */
let baseUrl: string;

beforeAll(async () => {
  pair = await openPostgresPair();
  database = open(pair.url);
  env = { DATABASE_URL: pair.url, QUEUE_PREFIX: weir.keys.prefix.replace('}', '-pair}'), DATABASE_COPIES: '2' };
  baseUrl = (await weir.startApi(env)).url;
  admin = await signUp({ ...weir, request });
});
afterAll(async () => {
  await database.close();
  const left = await weir.redis.keys(`${env['QUEUE_PREFIX']?.replace(/[{}]/g, '\\$&')}*`);
  if (left.length > 0) await weir.redis.unlink(...left);
});

afterEach(() => pair.replication.heal());

/** How often the tests look themselves at what makes Postgres lose commits. */
const LOOK_MS = 500;

function open(url: string): Database {
  return openDatabase(url, { connectionsMax: 4, statementTimeoutMs: 60_000, onConnectionError: () => {} });
}

function request(method: string, path: string, options?: RequestOptions): Promise<Answer> {
  return weir.request(method, path, { baseUrl, ...options });
}

function staged(): Promise<number> {
  return weir.redis.zcard(`${env['QUEUE_PREFIX']}:staged`);
}

/** Does something whose commit is on the primary alone: the standby does not hear of it, and the session that waits is ended. */
async function onPrimaryAlone(write: () => Promise<unknown>): Promise<void> {
  pair.replication.silence(['forth', 'back']);
  const written = write().catch((error: unknown) => error);
  await pair.endWaiting();
  expect(isDatabaseAway(await written)).toBe(true);
}

/** What is asked for is there on the primary, and nobody is told so before the standby has it. */
async function expectToWait<Value>(ask: () => Promise<Value>): Promise<Value> {
  let isAnswered = false;
  const answer = ask().finally(() => (isAnswered = true));
  await until(async () => isAnswered || (await pair.waiting()).length > 0, 'it waits for the standby');
  expect(isAnswered).toBe(false);
  await pair.replication.heal();
  return answer;
}

test('two copies are missed where no standby is named, or a commit does not wait for its disk', async () => {
  expect(await findRisks(database, 2)).toEqual([]);
  const single = open(weir.databaseUrl);
  expect(await findRisks(single, 1)).toEqual([]);
  expect(await findRisks(single, 2)).toEqual([expect.stringContaining('names no synchronous standby')]);
  await single.close();
});

test('a standby that is no longer named is missed while all runs, with one line, and so is what ends it', async () => {
  const lines: string[] = [];
  const log = createLog('test', 'info', [], { write: (line) => lines.push((JSON.parse(line) as { msg: string }).msg) });
  let looks = 0;
  const watch = openServerWatch(database, 2, log, () => (looks += 1), LOOK_MS);
  const worker = await weir.startWorker(env);
  const metric = async (of: string) => {
    const { body } = await weir.request('GET', '/metrics', { baseUrl: of });
    return /^weir_database_synced (\d)$/m.exec(body)?.[1];
  };
  const isSeen = async (value: string) => (await metric(baseUrl)) === value && (await metric(worker.url)) === value;
  try {
    await until(async () => looks > 0 && (await isSeen('1')), 'all have looked');
    expect(lines).toEqual([]);
    await queryOnce(pair.primaryUrl, `ALTER SYSTEM SET synchronous_standby_names = ''`);
    await queryOnce(pair.primaryUrl, 'SELECT pg_reload_conf()');
    await until(() => lines.length > 0 && isSeen('0'), 'it is missed');
    const before = looks;
    await until(() => looks > before, 'it is looked at again');
    expect(lines).toEqual([expect.stringContaining('names no synchronous standby')]);
  } finally {
    await queryOnce(pair.primaryUrl, 'ALTER SYSTEM RESET synchronous_standby_names');
    await queryOnce(pair.primaryUrl, 'SELECT pg_reload_conf()');
  }
  await until(() => lines.length > 1 && isSeen('1'), 'it is named again');
  expect(lines).toHaveLength(2);
  watch.close();
  await worker.close();
});

test('sessions that wait for a standby are counted by all, told once, and neither workers nor APIs add any', async () => {
  const [meter, apiKey] = await Promise.all([admin.createMeter('SUM'), admin.createKey()]);
  const event = { meter_token: meter.token, customer_external_id: 'globex', quantity: 1 };
  const lines: { level: number; msg: string }[] = [];
  const to = { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[0]) };
  const log = createLog('test', 'info', [{ name: 'the standby', isAway: isStandbyAway }], to);
  let looks = 0;
  const watch = openServerWatch(database, 2, log, () => (looks += 1), LOOK_MS);
  const worker = await weir.startWorker(env);
  const countAt = async (baseUrl: string) => {
    const { body } = await weir.request('GET', '/metrics', { baseUrl });
    return Number(/^weir_standby_waiting_sessions (\S+)$/m.exec(body)?.[1]);
  };
  const isSaid = async (isSo: (sessions: number) => boolean) =>
    isSo(await countAt(baseUrl)) && isSo(await countAt(worker.url));
  await until(() => isSaid((sessions) => sessions === 0), 'nobody waits');
  const withoutRedis = await weir.startApi({ ...env, REDIS_URL: 'redis://127.0.0.1:9' });
  const trackDirectly = () =>
    weir.request('POST', '/api/v1/sdk/track', { apiKey, body: event, baseUrl: withoutRedis.url });
  await until(async () => (await trackDirectly()).status === 201, 'events are recorded directly');

  pair.replication.silence(['forth', 'back']);
  const others = openDatabase(pair.url, {
    connectionsMax: 12,
    statementTimeoutMs: 60_000,
    onConnectionError: () => {},
  });
  const waiting = Array.from({ length: 12 }, () => others.pool.query(BARRIER));
  await until(() => isSaid((sessions) => sessions >= 12), 'they are counted');
  await until(async () => (await countAt(withoutRedis.url)) >= 12, 'the API without Redis counts them');
  const before = (await pair.waiting()).length;
  expect(await trackDirectly()).toMatchObject({ status: 503, body: { outcome: 'not_accepted' } });
  const readiness = () => weir.request('GET', '/readyz', { baseUrl: worker.url });
  expect(await readiness()).toMatchObject({
    status: 503,
    body: { problem: expect.stringContaining('the synchronous standby') },
  });
  expect(await request('POST', '/api/v1/sdk/track', { apiKey, body: event })).toMatchObject({ status: 201 });
  const then = looks;
  await until(() => looks > then + 3, 'it is looked at again');
  expect((await pair.waiting()).length).toBeLessThanOrEqual(before);
  expect(lines.filter(({ level }) => level >= 40).map(({ msg }) => msg)).toEqual([
    expect.stringMatching(/^the standby is away, /),
  ]);
  await pair.replication.heal();
  await Promise.all(waiting);
  await until(async () => (await staged()) === 0, 'the event is recorded');
  await until(() => isSaid((sessions) => sessions === 0), 'nobody waits any more');
  expect(await readiness()).toMatchObject({ status: 200 });
  await until(async () => (await trackDirectly()).status === 201, 'events are recorded directly again');
  watch.close();
  await withoutRedis.close();
  await worker.close();
  await others.close();
});

test('a standby is refused, and said to be one', async () => {
  const standby = open(pair.standbyUrl);
  const error: unknown = await standby.pool.query('SELECT 1').catch((thrown: unknown) => thrown);
  await standby.close();
  expect(isDatabaseAway(error)).toBe(true);
  expect(explainUnreachable(error)).toMatch(/^this Postgres is a standby, .*DATABASE_URL/);
  await expect(migrate(pair.standbyUrl)).rejects.toThrow('is a standby');
});

const key = (of: string) => {
  const hash = createHash('sha256').update(of).digest();
  return { organizationId: admin.id, keyHash: hash, requestHash: hash };
};

test('the first answer to a request is repeated once the standby has its change', async () => {
  const kept = { status: 201, answer: '{"id":"1"}', withheld: [] };
  const found = { outcome: 'same', kept, writtenAt: expect.any(String) };
  await onPrimaryAlone(() => insertRequestKey(database.kysely, key('found'), kept));
  expect(await expectToWait(() => findRequestKey(database.kysely, key('found')))).toEqual(found);
  await onPrimaryAlone(() => insertRequestKey(database.kysely, key('held'), kept));
  const hold = () => database.kysely.transaction().execute((transaction) => holdRequestKey(transaction, key('held')));
  expect(await expectToWait(hold)).toEqual(found);
});

test('who asks again for a change that is made is refused once the standby has it', async () => {
  const paired = { ...weir, request };
  const payee = await signUp(paired);
  const alone = (change: (transaction: Queries) => Promise<unknown>) =>
    onPrimaryAlone(() => database.kysely.transaction().execute(change));
  const plan = await makePricedPlan(paired, payee, [fixedCharge('31', { timing: 'in_advance' })]);
  const { id: customer_id } = await makeCustomer(paired, payee, { external_id: 'payer' });
  const { body: subscription } = await payee.ask('POST', '/subscriptions', { plan_id: plan.id, customer_id });
  const { body: drafts } = await payee.ask('GET', `/subscriptions/${subscription.id}/invoices`);
  const [{ id }] = drafts.data;
  expect(await payee.ask('POST', `/invoices/${id}/finalize`)).toMatchObject({ status: 200, body: { status: 'OPEN' } });

  const which = { organizationId: payee.id, id, actor: 'user:test' };
  await alone((db) => recordPayment(db, which, { amount: 1_000n, paidAt: null, reference: 'part' }));
  const part = await expectToWait(() => payee.ask('POST', `/invoices/${id}/pay`, { amount: '10', reference: 'part' }));
  expect(part).toMatchObject({ status: 409, body: { code: 'payment_recorded', reference: 'part' } });
  await alone((db) => recordPayment(db, which, { amount: null, paidAt: null, reference: 'rest' }));
  const rest = await expectToWait(() => payee.ask('POST', `/invoices/${id}/pay`, { reference: 'rest' }));
  expect(rest).toMatchObject({ status: 409, body: { code: 'invoice_not_open', reference: 'rest' } });

  const customer = { organization_id: payee.id, id: newId(), external_id: 'again' };
  await alone((db) => insertCustomer(db, customer));
  const taken = await expectToWait(() => payee.ask('POST', '/customers', { external_id: 'again' }));
  expect(taken).toMatchObject({ status: 409, body: { code: 'external_id_taken' } });
  await alone((db) => deleteCustomer(db, payee.id, customer.id));
  expect(await expectToWait(() => payee.ask('DELETE', `/customers/${customer.id}`))).toMatchObject({ status: 404 });
});

test('the feed is read on once the standby has its numbers', async () => {
  const event = { type: 'invoice.finalized', actor: 'run', data: {} } as unknown as NewFeedEvent;
  await onPrimaryAlone(() =>
    database.kysely.transaction().execute((transaction) => appendFeed(transaction, admin.id, [event])),
  );
  expect(await expectToWait(() => listFeed(database.kysely, admin.id, 0, 10))).toHaveLength(1);
});

test('whoever reads the feed again and again while the standby is away does not use up the connections', async () => {
  const event = { type: 'invoice.finalized', actor: 'run', data: {} } as unknown as NewFeedEvent;
  await database.kysely.transaction().execute((transaction) => appendFeed(transaction, admin.id, [event]));
  const impatient = openDatabase(pair.url, { connectionsMax: 4, statementTimeoutMs: 100, onConnectionError: () => {} });
  pair.replication.silence(['forth', 'back']);
  const reasons: unknown[] = [];
  while (!reasons.some((reason) => reason instanceof StandbyAway) && reasons.length < 30)
    reasons.push(await listFeed(impatient.kysely, admin.id, 0, 10).catch((error: unknown) => error));
  expect(reasons.at(-1)).toBeInstanceOf(StandbyAway);
  expect(isUnavailable(reasons.at(-1))).toBe(true);
  // Those of the last second are not counted among those that wait.
  expect((await pair.waiting()).length).toBeLessThan(20);
  await pair.replication.heal();
  const read = () => listFeed(database.kysely, admin.id, 0, 10).catch(() => []);
  await until(async () => (await read()).length > 0, 'the feed is read on');
  await impatient.close();
});

/** What a console asks for, of a session that was used minutes ago. */
async function expectToReadOn(): Promise<void> {
  const { operations } = await readOpenapi({ ...weir, baseUrl });
  // A page of the feed that is not empty waits for the standby: its reader goes on after these numbers.
  const waits = (path: string) => path === '/api/v1/billing-events';
  const lists = operations.filter(({ method, path }) => method === 'GET' && !path.includes('{') && !waits(path));
  expect(lists.length).toBeGreaterThan(20);
  const answers = [];
  for (const { path } of lists) {
    const { status } = await request('GET', path, { session: admin.session });
    answers.push(`${path} ${status}`);
    if (status >= 500) break;
  }
  expect(answers.filter((answer) => / 5..$/.test(answer))).toEqual([]);
}

const AGED = `UPDATE sessions SET used_at = now() - interval '2 minutes'`;
const USED = `SELECT 1 FROM sessions WHERE used_at > now() - interval '1 minute'`;

test('while the standby is away who is signed in reads on, and leaves no session that waits for it', async () => {
  await queryOnce(pair.primaryUrl, AGED);
  await queryOnce(pair.primaryUrl, 'DELETE FROM revenue_reckonings');
  pair.replication.silence(['forth', 'back']);
  await expectToReadOn();
  expect(await pair.waiting()).toEqual([]);
  expect((await queryOnce(pair.primaryUrl, USED)).rows).toHaveLength(1);
});

test('nor does it keep them from reading that a change of the same person waits for the standby', async () => {
  await queryOnce(pair.primaryUrl, AGED);
  pair.replication.silence(['forth', 'back']);
  const change = database.pool.query('UPDATE users SET role = role');
  await until(async () => (await pair.waiting()).length > 0, 'the change waits');
  await expectToReadOn();
  await pair.replication.heal();
  await change;
});

test('while the primary takes no writes who is signed in reads on', async () => {
  await queryOnce(pair.primaryUrl, AGED);
  await queryOnce(pair.primaryUrl, 'DELETE FROM revenue_reckonings');
  await queryOnce(pair.primaryUrl, 'ALTER SYSTEM SET default_transaction_read_only = on');
  await queryOnce(pair.primaryUrl, 'SELECT pg_reload_conf()');
  const isReadOnly = async (value: string) =>
    (await database.pool.query('SHOW transaction_read_only')).rows[0]?.transaction_read_only === value;
  try {
    await until(() => isReadOnly('on'), 'it takes no writes');
    await expectToReadOn();
  } finally {
    await queryOnce(pair.primaryUrl, 'ALTER SYSTEM RESET default_transaction_read_only');
    await queryOnce(pair.primaryUrl, 'SELECT pg_reload_conf()');
  }
  await until(() => isReadOnly('off'), 'it takes writes again');
});

test('accepted counts that come again are dropped once the standby has them', async () => {
  const counts = { id: newId(), counts: [{ organizationId: admin.id, month: '2026-11', events: 7 }] };
  const drain = () => addAcceptedCounts(database, () => Promise.resolve(counts));
  await onPrimaryAlone(drain);
  expect(await expectToWait(drain)).toMatchObject({ outcome: 'again', events: 0 });
});

test('an event that is recorded directly once more is taken once the standby has it', async () => {
  const { id: meter_id } = await admin.createMeter('SUM');
  const id = newId();
  const event = {
    id,
    organization_id: admin.id,
    meter_id,
    aggregation: 'SUM' as const,
    customer_external_id: 'direct',
    quantity: '1',
    timestamp: receivedAt(id),
  };
  await onPrimaryAlone(() => recordEvents(database.pool, [{ event, countsUniqueValues: false }]));
  const again = () =>
    recordDirectly(database, [{ event, apiKeyId: null, fingerprint: '' }], {
      isPerhapsStaged: false,
      claimsKeys: false,
    });
  expect(await expectToWait(again)).toEqual([{ outcome: 'taken' }]);
});

test('Redis is told of a key that was claimed without it once the standby has its event', async () => {
  const claimed = () => weir.redis.keys(`${env['QUEUE_PREFIX']?.replace(/[{}]/g, '\\$&')}:claim:*`);
  const claim = { eventId: newId(), organizationId: admin.id, idempotencyKey: 'of-the-outage', fingerprint: '' };
  await onPrimaryAlone(() => claimKeys(database.pool, [claim]));
  await until(async () => (await pair.waiting()).length > 0, 'the API looks for such keys');
  expect(await claimed()).toEqual([]);
  await pair.replication.heal();
  await until(async () => (await claimed()).length === 1, 'Redis is told');
});

test('a batch that comes again is taken off once the standby has it, and a promotion loses nothing', async () => {
  const [meter, apiKey] = await Promise.all([admin.createMeter('SUM'), admin.createKey()]);
  const track = (from: number) => {
    const events = Array.from({ length: 100 }, (_, n) => {
      return {
        meter_token: meter.token,
        customer_external_id: 'acme',
        quantity: 1,
        idempotency_key: `key-${from + n}`,
      };
    });
    return request('POST', '/api/v1/sdk/track/batch', { apiKey, body: { events } });
  };
  expect(await track(0)).toMatchObject({ status: 201 });
  expect(await staged()).toBe(1);
  pair.replication.silence(['forth', 'back']);
  const worker = await weir.startWorker(env);
  const recorded = async (url: string) =>
    (await queryOnce(url, `SELECT count(*)::int AS events FROM events WHERE customer_external_id = 'acme'`)).rows[0]
      ?.events as number;
  // All that waits is cut short until the events are there, on the primary alone.
  await until(async () => {
    if ((await pair.waiting()).length > 0) await pair.endWaiting();
    return (await recorded(pair.primaryUrl)) === 100;
  }, 'the batch is recorded');
  // It is delivered again at once.
  await until(async () => (await staged()) === 0 || (await pair.waiting()).length > 0, 'the batch is delivered again');
  expect(await recorded(pair.standbyUrl)).toBe(0);

  await pair.killPrimary();
  await pair.promote();
  await until(async () => (await staged()) === 0, 'the batch is recorded where the standby was');
  expect(await recorded(pair.standbyUrl)).toBe(100);
  // Those who held connections to the former primary go on by themselves.
  await until(async () => (await track(100)).status === 201, 'the API goes on');
  await until(async () => (await recorded(pair.standbyUrl)) === 200, 'the worker goes on');
  await worker.close();
});
