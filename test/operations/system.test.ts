// What the people of an organization are told of the installation that they share with others.

import { saveReconciliation } from '@weir/db/reconciliations';
import { openDatabase, type Database } from '@weir/db/database';
import { verdictOf } from '@weir/reconcile/verdict';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp, until, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let database: Database;
let admin: Organization;
let other: Organization;

beforeAll(async () => {
  const options = { connectionsMax: 1, statementTimeoutMs: 10_000, onConnectionError: () => {} };
  database = openDatabase(weir.databaseUrl, options);
  admin = await signUp(weir);
  other = await signUp(weir);
});
afterAll(() => database.close());

const system = async ({ session } = admin) => {
  const { status, body } = await weir.request('GET', '/api/v1/system', { session });
  expect(status).toBe(200);
  return body;
};

test('without a worker and a reconciliation nothing is said of them', async () => {
  expect(await system()).toEqual({
    postgres: 'ok',
    redis: 'ok',
    way: 'redis',
    worker: { last_seen_at: null },
    waiting: { events: 0, oldest_seconds: null },
    reconcile: null,
    ...(await weir.request('GET', '/version')).body,
  });
});

test('a worker that runs is seen again and again', async () => {
  const worker = await weir.startWorker();
  const seen = async () => Date.parse((await system()).worker.last_seen_at ?? 0);
  await until(async () => (await seen()) > 0, 'the worker is seen');
  const first = await seen();
  await until(async () => (await seen()) > first, 'it is seen again');
  await worker.close();
  expect(Date.now() - (await seen())).toBeLessThan(10_000);
});

test('each organization hears the last word of its own', async () => {
  const problems = new Map([[other.id, 2]]);
  await saveReconciliation(database, undefined, { problems, areAllKnown: true });
  expect((await system()).reconcile).toEqual({ finished_at: expect.any(String), is_equal: true, problems: 0 });
  expect((await system(other)).reconcile).toMatchObject({ is_equal: false, problems: 2 });
  const before = (await system()).reconcile;
  await saveReconciliation(database, other.id, { problems: new Map(), areAllKnown: true });
  expect((await system(other)).reconcile).toMatchObject({ is_equal: true, problems: 0 });
  expect((await system()).reconcile).toEqual(before);
  // Of problems that are nobody's known nobody is told that all is equal.
  await saveReconciliation(database, undefined, { problems: new Map(), areAllKnown: false });
  expect((await system()).reconcile).toMatchObject({ is_equal: false, problems: 0 });
});

test('a verdict counts what is left wrong, by whose it is', () => {
  const fates = { recorded: 0, duplicate: 0, rejected: 0, queued: 0 };
  const month = { month: '2026-11', accepted: 1, acceptedAtMost: 1, fates };
  const rollup = { month: '2026-11', meterId: 'm', table: 't', missing: 1, extra: 0, wrong: {}, off: {} };
  const found = {
    events: [
      { ...month, organizationId: 'a', difference: 1 },
      { ...month, organizationId: 'b', difference: -1 },
      { ...month, organizationId: 'c', difference: 0 },
    ],
    rollups: {
      compared: 2,
      differing: [
        { ...rollup, organizationId: 'a', isRebuilt: false, wasLocked: false },
        { ...rollup, organizationId: 'c', isRebuilt: true, wasLocked: false },
      ],
    },
    billing: undefined,
    isCorrected: true,
    isEqual: false,
  } as unknown as Parameters<typeof verdictOf>[0];
  expect(verdictOf(found)).toEqual({ problems: new Map([['a', 2]]), areAllKnown: true });
  const checks = { made: 1, broken: [{ name: 'x', promise: 'x', found: 2, faults: [{ organizationId: 'b' }] }] };
  const billing = { months: [], dues: { compared: 0, miscounted: 0, examples: [] }, checks, invoices: undefined };
  expect(verdictOf({ ...found, billing } as unknown as typeof found)).toEqual({
    problems: new Map([
      ['a', 2],
      ['b', 1],
    ]),
    areAllKnown: false,
  });
});
