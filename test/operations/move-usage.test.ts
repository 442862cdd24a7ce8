// Usage goes to another external id: all of it, once, whoever dies or records meanwhile, and what was billed stays billed once.

import type { Database } from '@weir/db/database';
import { performMoves } from '@weir/db/moves/perform-moves';
import { learnForRecording } from '@weir/db/known-for-recording';
import { recordEvents } from '@weir/db/record';
import { ALL_ROLLUPS } from '@weir/db/rollups';
import { MAINTENANCE_QUEUE } from '@weir/queue/maintenance-jobs';
import { newId } from '@weir/shared/ids';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findInTables, performAllMoves, throwIt } from '../support/erasing.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, startWeir, until, type Organization } from '../support/harness.ts';
import { startInvoicing } from '../support/invoicing.ts';
import { letGoOf } from '../support/let-go-of.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { reconcileHere } from '../support/reconcile-fixture.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { ownWeir } from '../support/use-weir.ts';

const WINDOW = 'start_date=2025-01-01&end_date=2025-04-01';

const weir = ownWeir({ unobserved: true });
let database: Database;
beforeAll(async () => {
  database = openTestDatabase(weir);
});
afterAll(() => database.close());

async function ask(admin: Organization, path: string, body: object, of = weir) {
  return await of.request('POST', `/api/v1${path}`, { session: admin.session, body });
}

async function read(admin: Organization, path: string, of = weir) {
  const { status, body } = await of.request('GET', `/api/v1${path}`, { session: admin.session });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
}

async function send(admin: Organization, events: object[], to = weir): Promise<void> {
  const apiKey = await admin.createKey();
  for (let from = 0; from < events.length; from += 1_000) {
    const body = { events: events.slice(from, from + 1_000) };
    const answer = await to.request('POST', '/api/v1/sdk/track/batch', { apiKey, body });
    expect(answer.status).toBe(201);
  }
  await to.drained();
}

test('usage of two ids becomes that of one, and what was billed of it stays: the rest is late, once', async () => {
  const billing = await startInvoicing(weir);
  const [sum, users] = [await billing.meter('SUM'), await billing.meter('UNIQUE_COUNT')];
  const { id: plan } = await billing.plan(
    [sum, users].map(({ id }) => ({ type: 'USAGE', display_name: 'Calls', meter_id: id, unit_price: '0.5' })),
  );
  await billing.moveTo('2025-01-01T00:10:00Z');
  const customer = await billing.customer({ external_id: 'acme-new' });
  const start = { start_date: '2025-01-01T00:00:00Z' };
  const { id: subscription } = await billing.subscribe(plan, customer.id, start);
  const at = (month: string, day: number) => `2025-${month}-${String(day).padStart(2, '0')}T12:00:00Z`;
  const use = (who: string, month: string, days: number[]) =>
    billing.track(
      days.flatMap((day) =>
        [sum, users].map((meter) => {
          return { meter, customer: who, quantity: day, at: at(month, day), metadata: { user_id: day % 4 } };
        }),
      ),
    );
  await use('acme-new', '01', [3, 4, 5]);
  await use('acme-old', '01', [4, 5, 6, 7]);
  await billing.moveTo('2025-02-01T00:10:00Z', subscription);
  const [january] = (await billing.finalizeAll(subscription)).slice(-1);
  await use('acme-new', '02', [1]);
  await use('acme-old', '02', [1, 2]);
  await use('acme-old', '01', [10]);
  // What is void counts for nobody: beside one that counts, and alone in its hour.
  const voided = ['2025-01-10T12:30:00Z', '2025-01-10T18:00:00Z'];
  await billing.track(voided.map((at) => ({ meter: sum, customer: 'acme-old', quantity: 100, at })));
  const { rows: wrong } = await weir.pool.query('SELECT id FROM events WHERE meter_id = $1 AND quantity = 100', [
    sum.id,
  ]);
  for (const { id } of wrong) await billing.post(`/events/${id}/void`, { reason: 'a test' }, 201);
  const whole = await Promise.all([sum, users].map(({ id }) => billing.get(`/meters/${id}/usage?${WINDOW}`)));

  expectProblem(
    await billing.request('POST', '/usage-moves', { from_external_id: 'acme-new', to_external_id: 'acme-old' }),
    409,
    'external_id_billed',
  );
  const same = { from_external_id: 'acme-old', to_external_id: 'acme-old' };
  expectProblem(await billing.request('POST', '/usage-moves', same), 422, 'invalid_request');
  const ids = { from_external_id: 'acme-old', to_external_id: 'acme-new' };
  const asked = await billing.post('/usage-moves', ids, 202);
  expect(asked).toMatchObject({ ...ids, status: 'RUNNING', events: 0, finished_at: null });
  await performAllMoves(database);
  expect(await billing.get(`/usage-moves/${asked.id}`)).toMatchObject({ ...ids, status: 'DONE', events: 16 });
  expect((await billing.get('/usage-moves')).data.map(({ id }: { id: string }) => id)).toEqual([asked.id]);
  expectProblem(await billing.request('GET', `/erasures/${asked.id}`), 404, 'not_found');

  await expectRollupsToEqualEvents(weir.pool);
  const { unique_customers: _, ...all } = whole[0];
  expect(await billing.get(`/meters/${sum.id}/usage?${WINDOW}`)).toMatchObject(all);
  const own = await billing.get(`/meters/${sum.id}/usage?${WINDOW}&customer_external_id=acme-new`);
  expect(own.total_usage).toBe(whole[0].total_usage);
  const former = await billing.get(`/meters/${sum.id}/usage?${WINDOW}&customer_external_id=acme-old`);
  expect(former.event_count).toBe(0);
  for (const from of ['rollups', 'events'])
    expect((await billing.post(`/invoices/${january.id}/recompute`, { from })).identical).toBe(true);

  await billing.moveTo('2025-03-01T00:10:00Z', subscription);
  const [february] = await billing.finalizeAll(subscription);
  // 4 + 5 + 6 + 7 + 10 units, and user 2 that only the former id had.
  const late = february.lines.filter(({ kind }: { kind: string }) => kind === 'LATE_USAGE');
  expect(late.map(({ amount }: { amount: string }) => amount).toSorted()).toEqual(['0.50', '16.00']);
  const usage = february.lines.filter(({ kind }: { kind: string }) => kind === 'USAGE');
  expect(usage.map(({ amount }: { amount: string }) => amount).toSorted()).toEqual(['1.00', '2.00']);
  for (const { id } of [january, february])
    for (const from of ['rollups', 'events'])
      expect((await billing.post(`/invoices/${id}/recompute`, { from })).identical).toBe(true);
  const options = { organizationId: billing.admin.id, invoices: true };
  expect((await reconcileHere(weir, database, options)).isEqual).toBe(true);
  await billing.close();
});

test('a statement that began to record before usage was taken away loses no distinct value', async () => {
  const admin = await signUp(weir);
  const { id: meterId, token } = await admin.createMeter('UNIQUE_COUNT');
  const event = {
    meter_token: token,
    customer_external_id: 'racer',
    quantity: 1,
    timestamp: '2025-01-05T00:01:00Z',
    metadata: { user_id: 'one' },
  };
  await send(admin, [event]);
  const { body: asked } = await ask(admin, '/erasures', { customer_external_id: 'racer' });
  const record = () =>
    recordEvents(database.pool, [
      {
        event: {
          id: newId(),
          organization_id: admin.id,
          meter_id: meterId,
          customer_external_id: 'racer',
          quantity: '1',
          timestamp: '2025-01-05T00:02:00Z',
          metadata: '{"user_id":"one"}',
        },
        countsUniqueValues: true,
      },
    ]);
  /** Lets a record statement begin, and go on when something else is done. */
  const whileRecording = async (use: () => Promise<unknown>): Promise<void> => {
    await learnForRecording(database.pool);
    const holder = await weir.pool.connect();
    await holder.query('SELECT pg_advisory_lock(20002, closing_slot($1))', [admin.id]);
    const recording = record();
    await until(async () => {
      const { rowCount } = await holder.query(
        `SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 20002 AND NOT granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return rowCount === 1;
    }, 'a record statement waits');
    await use();
    await holder.query('SELECT pg_advisory_unlock_all()');
    holder.release();
    expect((await recording).recorded).toBe(1);
  };
  const valuesOf = async (externalId: string) =>
    (await weir.pool.query('SELECT FROM customer_value_days WHERE customer_external_id = $1', [externalId])).rowCount;

  await whileRecording(() => performMoves(database, 1_000, () => Promise.resolve(false), throwIt));
  // It had seen the value that was taken away.
  expect(await valuesOf('racer')).toBe(0);
  await send(admin, [event]);
  expect(await valuesOf('racer')).toBe(1);
  const errors: unknown[] = [];
  await whileRecording(() =>
    performMoves(
      database,
      1_000,
      () => Promise.resolve(true),
      (error) => errors.push(error),
    ),
  );
  // It could not be told that nobody records any more who began before.
  expect(errors).toEqual([expect.objectContaining({ code: '55P03' })]);
  expect(await valuesOf('racer')).toBe(0);
  await performAllMoves(database);
  // What was accepted later stays with the former id, and is whole.
  expect(await valuesOf('racer')).toBe(1);
  expect(await valuesOf(asked.external_id)).toBe(1);
  await expectRollupsToEqualEvents(weir.pool);
});

test('what is recorded just before all that was accepted is there is moved as well', async () => {
  const admin = await signUp(weir);
  const { id: meter_id } = await admin.createMeter('SUM');
  const asked = (await ask(admin, '/erasures', { customer_external_id: 'late' })).body;
  const [id, timestamp] = [newId(), '2025-01-05T00:01:00Z'];
  const event = { id, organization_id: admin.id, meter_id, customer_external_id: 'late', quantity: '1', timestamp };
  const isRecorded = async () => {
    await recordEvents(database.pool, [{ event, countsUniqueValues: false }]);
    return true;
  };
  await performMoves(database, 60_000, isRecorded, throwIt);
  const { rows } = await weir.pool.query('SELECT customer_external_id AS who FROM events WHERE id = $1', [id]);
  expect(rows).toEqual([{ who: asked.external_id }]);
  expect(await read(admin, `/erasures/${asked.id}`)).toMatchObject({ status: 'DONE', events: 1 });
});

test('events are recorded while they are moved, and each is under one of the two ids', async () => {
  const admin = await signUp(weir);
  const [sum, users] = [await admin.createMeter('SUM'), await admin.createMeter('UNIQUE_COUNT')];
  const made = (count: number, who: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => ({
      meter_token: index % 2 === 0 ? sum.token : users.token,
      customer_external_id: who(index),
      quantity: 1 + (index % 9),
      timestamp: new Date(Date.UTC(2025, 0, 1, index % 40, index % 60)).toISOString(),
      metadata: { user_id: index % 11 },
    }));
  await send(
    admin,
    made(3_000, () => 'b-left'),
  );
  expect((await ask(admin, '/usage-moves', { from_external_id: 'b-left', to_external_id: 'a-stays' })).status).toBe(
    202,
  );
  let isOver = false;
  const moving = (async () => {
    const failures: unknown[] = [];
    while (!isOver)
      await performMoves(
        database,
        50,
        () => Promise.resolve(false),
        (error) => failures.push(error),
      );
    return failures;
  })();
  for (let batch = 0; batch < 8; batch += 1)
    await send(
      admin,
      made(500, (index) => ['b-left', 'a-stays', 'c-other'][index % 3] ?? ''),
    );
  isOver = true;
  // It gives way, and goes on later.
  for (const error of await moving) expect(error).toMatchObject({ code: '55P03' });
  await performAllMoves(database);
  await expectRollupsToEqualEvents(weir.pool);
  const { rows } = await weir.pool.query(
    'SELECT customer_external_id AS who, count(*)::int AS events FROM events WHERE organization_id = $1 GROUP BY 1 ORDER BY 1',
    [admin.id],
  );
  expect(rows).toEqual([
    { who: 'a-stays', events: 3_000 + 8 * 334 },
    { who: 'c-other', events: 8 * 166 },
  ]);
});

test('a worker that is killed in the middle of 20,000 events leaves whole hours, and another one goes on', async () => {
  // How often moves are looked at stays in Redis when its workers have gone, so it is a Redis of no other test.
  const apart = await startWeir({ withWorker: false });
  const recording = await apart.startWorker();
  const admin = await signUp(apart);
  const [sum, users] = [await admin.createMeter('SUM'), await admin.createMeter('UNIQUE_COUNT')];
  const events = Array.from({ length: 20_000 }, (_, index) => ({
    meter_token: index % 2 === 0 ? sum.token : users.token,
    customer_external_id: 'large',
    quantity: 1 + (index % 9),
    timestamp: new Date(Date.UTC(2025, 0, 1, index % 400, index % 60)).toISOString(),
    metadata: { user_id: index % 1_001, note: 'private' },
  }));
  await send(admin, events, apart);
  await recording.close();
  const readMeters = () =>
    Promise.all([sum, users].map(({ id }) => read(admin, `/meters/${id}/usage?${WINDOW}&timezone=Asia/Tokyo`, apart)));
  const before = await readMeters();
  const { body: waiting } = await ask(admin, '/erasures', { customer_external_id: 'waits' }, apart);
  const { body: asked } = await ask(admin, '/erasures', { customer_external_id: 'large' }, apart);
  const state = (id = asked.id) => read(admin, `/erasures/${id}`, apart);
  // What was accepted before that is never all recorded while this test runs.
  await apart.pool.query("UPDATE usage_moves SET created_at = now() + interval '1 h' WHERE id = $1", [waiting.id]);

  // Hours are moved in their order. The last one is held, so that not all of it is done before the worker is killed.
  const holder = await apart.pool.connect();
  await holder.query('BEGIN');
  const last = `SELECT FROM customer_usage_hours WHERE customer_external_id = 'large' ORDER BY hour DESC LIMIT 1 FOR UPDATE`;
  expect((await holder.query(last)).rowCount).toBe(1);
  const killed = await apart.spawnWorker({ MOVES_INTERVAL_MS: '100' });
  await until(async () => (await state()).events > 0, 'something is moved');
  await killed.stop('SIGKILL');
  await holder.query('ROLLBACK');
  holder.release();
  expect(await state()).toMatchObject({ status: 'RUNNING', finished_at: null });
  expect((await state()).events).toBeLessThan(20_000);
  await expectRollupsToEqualEvents(apart.pool);
  const { unique_customers: _, ...meanwhile } = before[1];
  expect((await readMeters())[1]).toMatchObject(meanwhile);

  // It waits for whatever may be on its way to Redis, for ten seconds.
  await apart.pool.query("UPDATE usage_moves SET created_at = created_at - interval '10 s' WHERE id = $1", [asked.id]);
  await letGoOf(apart.queue, MAINTENANCE_QUEUE);
  const next = await apart.spawnWorker({ MOVES_INTERVAL_MS: '100' });
  await until(async () => (await state()).status === 'DONE', 'the erasure is done', 60);
  await next.stop();
  // It was looked at as often.
  expect(await state(waiting.id)).toMatchObject({ status: 'RUNNING' });
  expect((await state()).events).toBe(20_000);
  await expectRollupsToEqualEvents(apart.pool);
  expect(await readMeters()).toEqual(before);
  const { rows } = await apart.pool.query(
    `SELECT count(*)::int AS left FROM events WHERE organization_id = $1
       AND (customer_external_id = 'large' OR metadata::text LIKE '%private%' OR metadata ->> 'user_id' IS NOT NULL)`,
    [admin.id],
  );
  expect(rows).toEqual([{ left: 0 }]);
  await apart.close();
}, 180_000);

test('moving one of many customers reads what is its own, also where Postgres knows nothing of the tables', async () => {
  const quiet = await startWeir({ withWorker: false, unobserved: true });
  const worker = await quiet.startWorker();
  const admin = await signUp(quiet);
  const meters = [await admin.createMeter('SUM'), await admin.createMeter('UNIQUE_COUNT')];
  const events = Array.from({ length: 18_000 }, (_, index) => ({
    meter_token: meters[index % 2]?.token,
    customer_external_id: `customer ${index % 300}`,
    quantity: 1,
    timestamp: new Date(Date.UTC(2025, 0, 1 + (index % 20), index % 24)).toISOString(),
    metadata: { user_id: index % 50 },
  }));
  await send(admin, events, quiet);
  await ask(admin, '/erasures', { customer_external_id: 'customer 7' }, quiet);
  await worker.close();
  const rows = await rowsReadBy(quiet, performAllMoves);
  // 60 events, each of which is read a few times, with its hour, its day and its value.
  expect(rows).toBeLessThan(3_000);
  await quiet.close();
});

test('usage that was moved from an erased customer, or to it, leads back to none of its names', async () => {
  const admin = await signUp(weir);
  const erased = 'ada who moved';
  const asked: [path: string, body: object][] = [
    ['/usage-moves', { from_external_id: erased, to_external_id: 'other' }],
    ['/usage-moves', { from_external_id: 'ada@before.example', to_external_id: erased }],
    ['/erasures', { customer_external_id: erased }],
  ];
  for (const [path, body] of asked) {
    expect((await ask(admin, path, body)).status).toBe(202);
    await performAllMoves(database);
  }
  expect(await findInTables(weir, erased, 'ada@before.example')).toEqual([]);
  const { data: erasures } = await read(admin, '/erasures');
  const { data } = await read(admin, '/usage-moves');
  expect(data).toMatchObject([
    { from_external_id: '[erased]', to_external_id: erasures[0].external_id },
    { from_external_id: '[erased]', to_external_id: 'other' },
  ]);
});

test('what is moved leaves no row in any rollup of customers under its former id', async () => {
  const admin = await signUp(weir);
  const { token } = await admin.createMeter('UNIQUE_COUNT', undefined, ['model']);
  const event = {
    meter_token: token,
    customer_external_id: 'in every rollup',
    quantity: 1,
    timestamp: '2025-01-05T00:01:00Z',
    metadata: { user_id: 'u', model: 'm' },
  };
  await send(admin, [event]);
  const moved = { from_external_id: 'in every rollup', to_external_id: 'in every other' };
  const tables = ALL_ROLLUPS.filter(({ scope }) => scope === 'customer').map(({ table }) => table);
  const rowsUnder = async (externalId: string) => {
    const counts = tables.map(
      (table) => `(SELECT count(*)::int FROM ${table} WHERE customer_external_id = $1) AS ${table}`,
    );
    return (await weir.pool.query(`SELECT ${counts.join(', ')}`, [externalId])).rows[0];
  };
  const inEach = (count: number) => Object.fromEntries(tables.map((table) => [table, count]));
  expect(await rowsUnder(moved.from_external_id)).toEqual(inEach(1));
  expect((await ask(admin, '/usage-moves', moved)).status).toBe(202);
  await performAllMoves(database);
  expect(await rowsUnder(moved.from_external_id)).toEqual(inEach(0));
  expect(await rowsUnder(moved.to_external_id)).toEqual(inEach(1));
});

test('a meter whose usage is just being grouped anew is waited for', async () => {
  const admin = await signUp(weir);
  const apiKey = await admin.createKey();
  const { id, token } = await admin.createMeter('UNIQUE_COUNT');
  const event = {
    meter_token: token,
    customer_external_id: 'waits',
    quantity: 1,
    metadata: { user_id: 'u', model: 'm' },
  };
  expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, body: event })).status).toBe(201);
  await weir.drained();
  const holder = await weir.pool.connect();
  // It is not made while somebody else has it in hand. The worker may have been sooner.
  await until(async () => {
    await holder.query(
      'INSERT INTO metadata_backfills (organization_id, meter_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      [admin.id, id],
    );
    await holder.query('BEGIN');
    const { rowCount } = await holder.query('SELECT FROM metadata_backfills FOR UPDATE');
    if (rowCount === 0) await holder.query('ROLLBACK');
    return rowCount === 1;
  }, 'it is in hand');
  const { status, body: asked } = await ask(admin, '/erasures', { customer_external_id: 'waits' });
  expect(status).toBe(202);
  const whose = async () => {
    const sql = 'SELECT customer_external_id AS who FROM events WHERE organization_id = $1';
    return (await weir.pool.query(sql, [admin.id])).rows;
  };
  expect(await performMoves(database, 60_000, () => Promise.resolve(true), throwIt)).toEqual([]);
  expect(await whose()).toEqual([{ who: 'waits' }]);
  await holder.query('DELETE FROM metadata_backfills');
  await holder.query('COMMIT');
  holder.release();
  await performAllMoves(database);
  expect(await whose()).toEqual([{ who: asked.external_id }]);
  await expectRollupsToEqualEvents(weir.pool);
});
