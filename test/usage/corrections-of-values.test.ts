// Corrections hold others off while they are made, and those of meters that count distinct values all who record: they are quick however
// many values go at once, cost whoever makes them where they are not, and are refused where they would take long.

import { backfillGroups } from '@weir/db/group-backfill';
import { recordEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bestOfThree } from '../support/best-of-three.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Answer, type Organization } from '../support/harness.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';
import type { Database } from '@weir/db/database';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let database: Database;
beforeAll(async () => {
  admin = await signUp(weir);
  database = openTestDatabase(weir);
});
afterAll(() => database.close());

/** Records events of users of one customer in one quarter of an hour. Returns their ids. */
async function use(meter: { id: string }, users: readonly string[], quarter = '10:00'): Promise<string[]> {
  const events = users.map((user) => ({
    event: {
      id: newId(),
      organization_id: admin.id,
      meter_id: meter.id,
      customer_external_id: 'acme',
      quantity: '1',
      timestamp: `2025-01-10T${quarter}:00.000000Z`,
      metadata: JSON.stringify({ user_id: user, plan: user.slice(0, 1) }),
    },
    countsUniqueValues: true,
  }));
  for (let from = 0; from < events.length; from += 1_000)
    await recordEvents(database.pool, events.slice(from, from + 1_000));
  return events.map(({ event }) => event.id);
}

/** With a budget of one request a second, which is saved for a few: recording is stopped for that of a minute. */
const startPoorApi = () => weir.startApi({ READ_BUCKETS_PER_CALLER: '100', READS_IN_FLIGHT_PER_CALLER: '1' });

const usersOf = (count: number, letter = 'a') => Array.from({ length: count }, (_, index) => `${letter}${index}`);

const voiding = (ids: readonly string[]) => ({
  corrections: ids.map((event_id) => ({ type: 'void', event_id, reason: 'a test' })),
});

const ask = (path: string, body: object, baseUrl?: string): Promise<Answer> =>
  weir.request('POST', `/api/v1${path}`, { session: admin.session, body, ...(baseUrl !== undefined && { baseUrl }) });

async function usersNow(meter: { id: string }): Promise<string> {
  const window = 'start_date=2025-01-10T00:00:00Z&end_date=2025-01-11T00:00:00Z&group_by=day';
  return (await admin.ask('GET', `/meters/${meter.id}/usage?${window}`)).body.total_usage;
}

test('a thousand users of ten thousand are taken out of one quarter of an hour at once', async () => {
  const meter = await admin.createMeter('UNIQUE_COUNT');
  const ids = await use(meter, usersOf(10_000));
  // Some of those that go are there again, by another event of the quarter; all are in the next one, too, but for a few.
  await use(meter, usersOf(300));
  await use(meter, usersOf(9_990), '10:15');
  // Of two seconds, in which it is done or refused, it takes half a second where the machine does nothing else.
  const { status, body } = await bestOfThree(
    () => ask('/corrections', voiding(ids.slice(0, 1_000))),
    (answer) => answer.status === 201,
  );
  expect({ status, body }).toMatchObject({ status: 201 });
  expect(await usersNow(meter)).toBe('10000');
  expect((await ask('/corrections', voiding(ids.slice(-5)))).status).toBe(201);
  expect(await usersNow(meter)).toBe('9995');
  await expectRollupsToEqualEvents(weir.pool);
});

test('users and groups that are left are told from those that go, few or many of a quarter', async () => {
  const meter = await admin.createMeter('UNIQUE_COUNT');
  const grouped = await admin.ask('PATCH', `/meters/${meter.id}`, { metadata_keys: ['plan'] });
  expect(grouped.status).toBe(200);
  for (const [quarter, count] of [
    ['11:00', 3],
    ['11:15', 40],
  ] as const) {
    const ids = [...(await use(meter, usersOf(count), quarter)), ...(await use(meter, usersOf(count, 'b'), quarter))];
    await use(meter, usersOf(count - 2), quarter);
    expect((await ask('/corrections', voiding(ids))).status).toBe(201);
    await expectRollupsToEqualEvents(weir.pool);
  }
  expect(await usersNow(meter)).toBe('38');
});

test('while its meter is grouped by other keys an event is not corrected, and then it is', async () => {
  const meter = await admin.createMeter('UNIQUE_COUNT');
  await use(meter, ['before']);
  expect((await admin.ask('PATCH', `/meters/${meter.id}`, { metadata_keys: ['plan'] })).status).toBe(200);
  // Noted, and grouped later.
  const [id] = await use(meter, ['meanwhile']);
  const correct = () => ask(`/events/${id}/void`, { reason: 'a test' });
  expectProblem(await correct(), 409, 'groups_not_ready');
  await backfillGroups(database, 60_000);
  expect((await correct()).status).toBe(201);
  await expectRollupsToEqualEvents(weir.pool);
});

test('whoever corrects what stops recording on and on waits, also where it is only tried', async () => {
  const { url } = await startPoorApi();
  const meter = await admin.createMeter('UNIQUE_COUNT');
  const [first = '', second = ''] = await use(meter, usersOf(2));
  expect((await ask('/corrections/preview', voiding([first]), url)).status).toBe(200);
  expectProblem(await ask(`/events/${second}/void`, { reason: 'a test' }, url), 429, 'rate_limited');
});

test('whoever holds off for long what others record into the same quarter waits, too', async () => {
  const { url } = await startPoorApi();
  const [first, second] = await use(await admin.createMeter('SUM'), usersOf(2));
  await weir.pool.query(
    `CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.3); RETURN NEW; END'`,
  );
  await weir.pool.query(
    'CREATE TRIGGER be_slow BEFORE UPDATE ON meter_usage_quarters FOR EACH ROW EXECUTE FUNCTION be_slow()',
  );
  expect((await ask(`/events/${first}/void`, { reason: 'a test' }, url)).status).toBe(201);
  await weir.pool.query('DROP FUNCTION be_slow CASCADE');
  expectProblem(await ask(`/events/${second}/void`, { reason: 'a test' }, url), 429, 'rate_limited');
});

test.each([
  ['recording', 'UNIQUE_COUNT', 'customer_value_days'],
  ['what is recorded into the same quarter', 'SUM', 'meter_usage_quarters'],
] as const)('what would hold %s off for long is refused, and changes nothing', async (_, aggregation, table) => {
  const meter = await admin.createMeter(aggregation);
  const [id = ''] = await use(meter, ['only']);
  // As a Postgres is that has very much to read for it.
  await weir.pool.query(
    `CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(30); RETURN OLD; END'`,
  );
  await weir.pool.query(`CREATE TRIGGER be_slow BEFORE DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION be_slow()`);
  const began = performance.now();
  for (const [path, body] of [
    [`/events/${id}/void`, { reason: 'a test' }],
    ['/corrections/preview', voiding([id])],
  ] as const) {
    const answer = await ask(path, body);
    expectProblem(answer, 409, 'not_correctable');
    expect(answer.body.detail).toContain('where its quarter of an hour has very many events');
  }
  expect(performance.now() - began).toBeLessThan(14_000);
  await weir.pool.query('DROP FUNCTION be_slow CASCADE');
  expect(await usersNow(meter)).toBe('1');
  expect((await ask(`/events/${id}/void`, { reason: 'a test' })).status).toBe(201);
});

test('statements that are slow together are refused, too, up to the last ones of a preview', async () => {
  const meter = await admin.createMeter('UNIQUE_COUNT');
  const [id = ''] = await use(meter, ['only']);
  // Each of two statements takes most of the time that all have.
  await weir.pool.query(
    `CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1.2); RETURN NEW; END'`,
  );
  const slowDown = (table: string, what: 'ROW' | 'STATEMENT') =>
    weir.pool.query(`CREATE TRIGGER be_slow BEFORE INSERT ON ${table} FOR EACH ${what} EXECUTE FUNCTION be_slow()`);
  await slowDown('corrections', 'ROW');
  // A row only when a preview marks what it did: the time of the event is not closed.
  await slowDown('late_events', 'ROW');
  expectProblem(await ask('/corrections/preview', voiding([id])), 409, 'not_correctable');
  await slowDown('touched_usage', 'STATEMENT');
  expectProblem(await ask(`/events/${id}/void`, { reason: 'a test' }), 409, 'not_correctable');
  await weir.pool.query('DROP FUNCTION be_slow CASCADE');
  expect((await ask(`/events/${id}/void`, { reason: 'a test' })).status).toBe(201);
});

test('what is slow once recording goes on again is not paid for, nor called a correction of too many', async () => {
  const { url } = await weir.startApi({
    READ_BUCKETS_PER_CALLER: '8000',
    READS_IN_FLIGHT_PER_CALLER: '1',
    DATABASE_STATEMENT_TIMEOUT_MS: '2000',
  });
  const meter = await admin.createMeter('UNIQUE_COUNT');
  const [id = ''] = await use(meter, ['only']);
  const busy = await weir.pool.connect();
  try {
    await busy.query('BEGIN');
    await busy.query('LOCK TABLE invoices');
    expectProblem(await ask('/corrections/preview', voiding([id]), url), 503, 'unavailable');
    await busy.query('ROLLBACK');
  } finally {
    busy.release(true);
  }
  // For as long as it took, it would have to wait until its request is refused.
  expect((await ask(`/events/${id}/void`, { reason: 'a test' }, url)).status).toBe(201);
});

test('the audit log has the user that an event was amended to, with every digit', async () => {
  const meter = await admin.createMeter('UNIQUE_COUNT');
  const [id] = await use(meter, ['wrong']);
  const raw = '{"reason":"a test","metadata":{"user_id":9007199254740993,"within":[[[9007199254740993.5]]],"n":0.10}}';
  const { session } = admin;
  expect((await weir.request('POST', `/api/v1/events/${id}/amend`, { session, raw })).status).toBe(201);
  const { body } = await weir.request('GET', '/api/v1/audit-log?limit=1', { session });
  expect(body.data[0].changes).toEqual({
    reason: 'a test',
    metadata: { user_id: '9007199254740993', within: [[['9007199254740993.5']]], n: 0.1 },
  });
});
