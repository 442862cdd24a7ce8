// Usage of a month that was taken out is moved and erased once that month is attached: its events would not go with it. Of a month that
// is lost for good, what was counted and billed of it stays as it was when it is erased, without its events.

import type { Database } from '@weir/db/database';
import { performMoves } from '@weir/db/moves/perform-moves';
import { recordEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { countsValues, type AggregationType } from '@weir/shared/meter';
import { monthAfter, utcMonthOf } from '@weir/shared/months';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectToBeTold, findInTables, performAllMoves, throwIt } from '../support/erasing.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until } from '../support/harness.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { attachMonth, detachMonth, loseMonth, makeMonthsSince, recordUsed } from '../support/months.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let database: Database;
let billing: Invoicing;

beforeAll(async () => {
  database = openTestDatabase(weir);
  billing = await startInvoicing(weir);
  await makeMonthsSince(weir, '2024-03-01');
  await weir.pool.query(`UPDATE organizations SET created_at = '2024-03-01' WHERE id = $1`, [billing.admin.id]);
});
afterAll(async () => {
  await billing.close();
  await database.close();
});

interface Meter {
  id: string;
  aggregation: AggregationType;
}

interface Sent {
  meter: Meter;
  customer: string;
  timestamp: string;
  receivedAt?: string;
  quantity?: string;
  metadata?: object;
}

/** Records events that came in when they happened, where nothing else is said, and returns their ids. */
async function record(sent: Sent[]): Promise<string[]> {
  const events = sent.map(({ meter, customer, timestamp, receivedAt = timestamp, quantity = '1', metadata = {} }) => ({
    event: {
      id: newId(Date.parse(receivedAt)),
      organization_id: billing.admin.id,
      meter_id: meter.id,
      customer_external_id: customer,
      quantity,
      timestamp,
      metadata: JSON.stringify(metadata),
    },
    countsUniqueValues: countsValues(meter.aggregation),
  }));
  expect((await recordEvents(weir.pool, events)).recorded).toBe(events.length);
  return events.map(({ event }) => event.id);
}

async function meterOf(aggregation: AggregationType, keys: string[] = []): Promise<Meter> {
  return { id: (await billing.admin.createMeter(aggregation, undefined, keys)).id, aggregation };
}

/** A customer who is billed each unit of these meters from an instant on. */
async function billedFrom(start: string, customer: string, ...meters: Meter[]): Promise<string> {
  await billing.moveTo('2024-02-29T00:00:00Z');
  const { id: plan } = await billing.plan(
    meters.map(({ id }) => ({ type: 'USAGE', display_name: 'Calls', meter_id: id, unit_price: '2' })),
  );
  const { id } = await billing.customer({ external_id: customer });
  await billing.moveTo(start);
  return (await billing.subscribe(plan, id, { start_date: start })).id;
}

/** What keeps a worker's look from the end of each move, by the id of the move. */
async function look(): Promise<Map<string, unknown>> {
  const errors = new Map<string, unknown>();
  const isRecorded = () => Promise.resolve(true);
  await performMoves(database, 60_000, isRecorded, (error, { id }) => errors.set(id, error));
  return errors;
}

const read = (meter: Meter, customer: string, more = '') =>
  billing.get(
    `/meters/${meter.id}/usage?start_date=2024-03-01&end_date=2024-04-01&customer_external_id=${customer}${more}`,
  );

test('usage of a month that is lost for good is erased, and its invoices stay as they were', async () => {
  const [users, calls] = [await meterOf('UNIQUE_COUNT', ['model']), await meterOf('SUM')];
  const subscription = await billedFrom('2024-03-01T00:00:00Z', 'leaving', users, calls);
  const at = (hour: string) => `2024-03-20T${hour}Z`;
  const by = (user: string, hour: string, model = 'm1') => ({
    meter: users,
    customer: 'leaving',
    timestamp: at(hour),
    metadata: { user_id: user, model },
  });
  await record([by('a', '10:10:00'), by('b', '10:40:00'), by('c', '11:05:00', 'm2'), by('a', '11:20:00')]);
  const [alone = ''] = await record([{ meter: calls, customer: 'leaving', timestamp: at('10:00:00'), quantity: '7' }]);
  await billing.moveTo('2024-04-01T00:10:00Z', subscription);
  const [march] = (await billing.finalizeAll(subscription)).slice(-1);
  expect(march.total).toBe('20.00');
  await record([{ meter: calls, customer: 'lost-old', timestamp: at('12:00:00') }]);
  // After it was billed. Nothing of its hour counts any more.
  await billing.post(`/events/${alone}/void`, { reason: 'a test' }, 201);
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
  await billing.finalizeAll(subscription);
  const usage = async (customer: string) => [
    await read(users, customer),
    await read(users, customer, '&group_by=hour'),
    await read(users, customer, '&group_by_metadata=model'),
    await read(calls, customer),
  ];
  const before = await usage('leaving');
  expect(before[0].total_usage).toBe('3');
  const again = async () => await billing.post(`/invoices/${march.id}/recompute`, { from: 'rollups' });
  const recomputed = await again();
  expect(recomputed.identical).toBe(true);

  await loseMonth(weir, '2024-03');
  const asked = await billing.post('/erasures', { customer_external_id: 'leaving' }, 202);
  await performAllMoves(database);
  expect(await billing.get(`/erasures/${asked.id}`)).toMatchObject({ status: 'DONE', events: 0 });
  expect(await usage(asked.external_id)).toEqual(before);
  expect(await again()).toEqual(recomputed);
  const moved = { from_external_id: 'lost-old', to_external_id: 'lost' };
  const refused = await billing.request('POST', '/usage-moves', moved);
  expectProblem(refused, 409, 'month_taken_out');
  expect(refused.body.detail).toContain('events of it are lost');
  // Of what was counted and billed.
  const { rows } = await weir.pool.query(`SELECT FROM late_events WHERE customer_external_id = 'leaving'`);
  expect(rows).toEqual([]);
});

test('usage of a month that was taken out is moved once it is attached, and is billed then', async () => {
  const calls = await meterOf('SUM');
  const subscription = await billedFrom('2024-05-01T00:00:00Z', 'acme', calls);
  const used = (customer: string, time: string, quantity: string, receivedAt = `2024-05-${time}Z`) => {
    return { meter: calls, customer, timestamp: `2024-05-${time}Z`, quantity, receivedAt };
  };
  await record([
    used('acme', '10T10:00:00', '5'),
    used('acme-old', '20T10:00:00', '10'),
    used('acme-old', '20T11:00:00', '1'),
    used('mixed', '31T23:10:00', '1'),
    // The last one of the hour is there.
    used('mixed', '31T23:50:00', '1', '2024-06-01T00:30:00Z'),
  ]);
  await billing.moveTo('2024-06-01T00:10:00Z', subscription);
  const [may] = (await billing.finalizeAll(subscription)).slice(-1);
  expect(may.total).toBe('10.00');
  const isAsBilled = async () => {
    expect((await billing.post(`/invoices/${may.id}/recompute`, { from: 'rollups' })).identical).toBe(true);
    const { rows } = await weir.pool.query(
      `SELECT customer_external_id AS who, sum(event_count)::int AS events FROM customer_usage_hours WHERE meter_id = $1 GROUP BY 1 ORDER BY 1`,
      [calls.id],
    );
    return rows;
  };
  const before = await isAsBilled();
  const old = { from_external_id: 'acme-old', to_external_id: 'acme' };

  await detachMonth(weir, '2024-05');
  const refused = await billing.request('POST', '/usage-moves', old);
  expectProblem(refused, 409, 'month_taken_out');
  expect(refused.body.detail).toContain('attach events_2024_05 first');
  const mixed = await billing.post('/usage-moves', { from_external_id: 'mixed', to_external_id: 'other' }, 202);
  await attachMonth(weir, '2024-05');
  const asked = await billing.post('/usage-moves', old, 202);
  // It is taken out while they run.
  await detachMonth(weir, '2024-05');
  const errors = await look();
  for (const { id } of [mixed, asked]) {
    expect(errors.get(id)).toMatchObject({ name: 'MonthTakenOut', month: '2024-05' });
    expect(await billing.get(`/usage-moves/${id}`)).toMatchObject({ status: 'RUNNING', events: 0 });
  }
  expect(await isAsBilled()).toEqual(before);
  await expectToBeTold(weir, 'usage could not be moved on');

  await attachMonth(weir, '2024-05');
  await performAllMoves(database);
  for (const { id } of [mixed, asked])
    expect(await billing.get(`/usage-moves/${id}`)).toMatchObject({ status: 'DONE', events: 2 });
  expect(await isAsBilled()).toEqual([
    { who: 'acme', events: 3 },
    { who: 'other', events: 2 },
  ]);
  await billing.moveTo('2024-07-01T00:10:00Z', subscription);
  const [june] = await billing.finalizeAll(subscription);
  const late = june.lines.filter(({ kind }: { kind: string }) => kind === 'LATE_USAGE');
  expect([june.total, late.length]).toEqual(['22.00', 1]);
});

test('a customer with usage of a month that was taken out is erased once it is attached, and then wholly', async () => {
  const calls = await meterOf('SUM');
  // The first hour is read by the event.
  const subscription = await billedFrom('2024-07-15T10:30:00Z', 'forgotten', calls);
  const used = (timestamp: string, quantity: string) => ({
    meter: calls,
    customer: 'forgotten',
    timestamp,
    quantity,
    metadata: { who: 'forgotten' },
  });
  await record([used('2024-07-15T10:45:00Z', '600'), used('2024-07-20T00:00:00Z', '1000')]);
  await billing.moveTo('2024-08-15T01:00:00Z', subscription);
  const [invoice] = (await billing.finalizeAll(subscription)).slice(-1);
  expect(invoice.total).toBe('3200.00');
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
  await billing.finalizeAll(subscription);
  const [kept] = (await billing.get('/customers?external_id=forgotten')).data;
  const erase = () => billing.request('POST', '/erasures', { customer_external_id: 'forgotten' });

  await detachMonth(weir, '2024-07');
  const refused = await erase();
  expectProblem(refused, 409, 'month_taken_out');
  expect(refused.body.detail).toContain('Nothing is erased while');
  expect(refused.body.detail).toContain('attach events_2024_07 first');
  expect((await billing.get('/customers?external_id=forgotten')).data).toHaveLength(1);
  await attachMonth(weir, '2024-07');
  const { body: asked } = await erase();
  // It is taken out while the erasure runs.
  await detachMonth(weir, '2024-07');
  expect((await look()).get(asked.id)).toMatchObject({ name: 'MonthTakenOut', month: '2024-07' });
  expect(await billing.get(`/erasures/${asked.id}`)).toMatchObject({ status: 'RUNNING', events: 0 });
  await attachMonth(weir, '2024-07');
  await performAllMoves(database);
  expect(await billing.get(`/erasures/${asked.id}`)).toMatchObject({ status: 'DONE', events: 2 });
  await detachMonth(weir, '2024-07');

  const paid = await weir.request('POST', `/api/v1/invoices/${invoice.id}/pay`, {
    session: billing.admin.session,
    headers: { 'idempotency-key': 'paid-once' },
    body: { reference: 'IBAN 4711' },
  });
  expect(paid.body).toMatchObject({ status: 'PAID', reference: 'IBAN 4711' });

  // Years later the copies on its invoices go, for which no month is needed.
  const eraseCopies = () =>
    weir.request('POST', '/api/v1/erasures', {
      session: billing.admin.session,
      headers: { 'idempotency-key': 'copies-once' },
      body: { customer_id: kept.id, invoice_copies_issued_before: '2024-09-01' },
    });
  const first = await eraseCopies();
  expect(first).toMatchObject({ status: 202, body: { status: 'RUNNING', external_id: asked.external_id } });
  await performAllMoves(database);
  expect(await billing.get(`/erasures/${first.body.id}`)).toMatchObject({ status: 'DONE', customer_id: kept.id });
  // Its own answer is told again, though it names the customer.
  const repeat = await eraseCopies();
  expect([repeat.body, repeat.headers.get('idempotent-replay')]).toEqual([first.body, 'true']);
  expect((await billing.get(`/invoices/${invoice.id}`)).customer).toBeNull();
  await attachMonth(weir, '2024-07');
  expect((await billing.post(`/invoices/${invoice.id}/recompute`, { from: 'rollups' })).identical).toBe(true);
  expect(await findInTables(weir, '"forgotten', 'IBAN 4711')).toEqual([]);
});

test('a move and an erasure whose month is lost while they run end once an empty one is in its place', async () => {
  const calls = await meterOf('SUM');
  const subscription = await billedFrom('2024-09-01T00:00:00Z', 'whole', calls);
  const used = (customer: string, timestamp: string, quantity: string, receivedAt = timestamp) => {
    return { meter: calls, customer, timestamp, quantity, receivedAt };
  };
  const october = '2024-10-01T00:30:00Z';
  await record([
    used('whole', '2024-09-10T10:00:00Z', '5'),
    used('half', '2024-09-20T10:00:00Z', '100'),
    // Of an hour of which only one is lost.
    used('half', '2024-09-30T22:10:00Z', '20'),
    used('half', '2024-09-30T22:50:00Z', '30', october),
    used('half', '2024-09-30T23:50:00Z', '7', october),
    used('gone', '2024-09-21T10:00:00Z', '3'),
  ]);
  await billing.moveTo('2024-10-01T00:40:00Z', subscription);
  const [september] = (await billing.finalizeAll(subscription)).slice(-1);
  expect(september.total).toBe('10.00');
  const { id: move } = await billing.post('/usage-moves', { from_external_id: 'half', to_external_id: 'whole' }, 202);
  const { id: erasure, external_id: erased } = await billing.post('/erasures', { customer_external_id: 'gone' }, 202);
  await detachMonth(weir, '2024-09');
  const errors = await look();
  for (const id of [move, erasure]) expect(errors.get(id)).toMatchObject({ name: 'MonthTakenOut', month: '2024-09' });

  await loseMonth(weir, '2024-09');
  const lost: unknown[] = [];
  const isRecorded = () => Promise.resolve(true);
  await performMoves(database, 60_000, isRecorded, throwIt, (hours, { id }) => lost.push([hours, id]));
  expect(lost).toEqual([[2, move]]);
  expect(await billing.get(`/usage-moves/${move}`)).toMatchObject({ status: 'DONE', events: 1 });
  expect(await billing.get(`/erasures/${erasure}`)).toMatchObject({ status: 'DONE', events: 0 });
  const { rows } = await weir.pool.query(
    `SELECT customer_external_id AS who, sum(event_count)::int AS events, sum(quantity_sum)::text AS usage
     FROM customer_usage_hours WHERE meter_id = $1 GROUP BY 1 ORDER BY 1`,
    [calls.id],
  );
  expect(rows).toEqual([
    { who: erased, events: 1, usage: '3' },
    { who: 'half', events: 3, usage: '150' },
    { who: 'whole', events: 2, usage: '12' },
  ]);
  await billing.moveTo('2024-11-01T00:10:00Z', subscription);
  const [next] = await billing.finalizeAll(subscription);
  expect([next.total, next.lines.map(({ kind }: { kind: string }) => kind)]).toEqual([
    '14.00',
    ['USAGE', 'LATE_USAGE'],
  ]);
  expect((await billing.post(`/invoices/${september.id}/recompute`, { from: 'rollups' })).identical).toBe(true);
});

/** Goes on with moves while a month is being attached: that commits once one of them waits for it. */
async function lookWhileAttaching(month: string): Promise<void> {
  const holder = await weir.pool.connect();
  try {
    await holder.query('BEGIN');
    await attachMonth({ pool: holder }, month);
    const moving = performMoves(database, 60_000, () => Promise.resolve(true), throwIt);
    // What it says is told below.
    moving.catch(() => {});
    await until(async () => {
      const { rowCount } = await holder.query(
        `SELECT FROM pg_locks WHERE relation = 'events_default'::regclass AND NOT granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return rowCount === 1;
    }, 'a move waits for the month');
    await holder.query('COMMIT');
    await moving;
  } finally {
    holder.release(true);
  }
}

test.each([
  ['usage-moves', { from_external_id: 'attached-moved', to_external_id: 'attached' }],
  ['erasures', { customer_external_id: 'attached-erased' }],
])('events of a month that is being attached while they are looked for are found: %s', async (path, request) => {
  const users = await meterOf('UNIQUE_COUNT');
  const [former = ''] = Object.values(request);
  const by = (user: string, timestamp: string, receivedAt = timestamp) => {
    return { meter: users, customer: former, timestamp, receivedAt, metadata: { user_id: user } };
  };
  await record([
    by('a', '2024-11-10T10:00:00Z'),
    // Of an hour of which one is in another month.
    by('b', '2024-11-30T23:10:00Z'),
    by('c', '2024-11-30T23:50:00Z', '2024-12-01T00:30:00Z'),
  ]);
  const { id } = await billing.post(`/${path}`, request, 202);
  await detachMonth(weir, '2024-11');
  await lookWhileAttaching('2024-11');

  expect(await billing.get(`/${path}/${id}`)).toMatchObject({ status: 'DONE', events: 3 });
  const { rows } = await weir.pool.query(
    `SELECT customer_external_id = $2 AS is_former, count(*)::int AS events,
       (SELECT sum(event_count)::int FROM customer_usage_hours AS hours WHERE meter_id = $1
          AND hours.customer_external_id = events.customer_external_id) AS counted,
       (SELECT count(*)::int FROM customer_value_days AS days WHERE meter_id = $1
          AND days.customer_external_id = events.customer_external_id) AS values
     FROM events WHERE meter_id = $1 GROUP BY customer_external_id`,
    [users.id, former],
  );
  expect(rows).toEqual([{ is_former: false, events: 3, counted: 3, values: 3 }]);
});

/** So many events, and distinct values, are moved at a time here. */
const PART = 20;

test.each([
  ['nothing is left', 60, 0],
  ['more than a part is left', 10, 60],
])('an hour with lost events stays whole where %s, also of a month that is not empty', async (_, lost, left) => {
  const users = await meterOf('UNIQUE_COUNT', ['model']);
  const month = left === 0 ? '2025-01' : '2025-03';
  const [former, target] = [`${month} former`, `${month} target`];
  const [last, after] = [`${month}-31T`, monthAfter(month)];
  const by = (user: number, timestamp: string, receivedAt = timestamp) => {
    return { meter: users, customer: former, timestamp, receivedAt, metadata: { user_id: user, model: user % 3 } };
  };
  const each = (count: number) => Array.from({ length: count }, (_, index) => index);
  await record([
    ...each(lost).map((user) => by(user, `${last}22:10:00Z`)),
    ...each(left).map((user) => by(1_000 + user, `${last}22:20:00Z`, `${after}-01T00:10:00Z`)),
    // Nothing of this hour is lost.
    by(5_000, `${last}23:10:00Z`, `${after}-01T00:20:00Z`),
  ]);
  const asked = await billing.post('/usage-moves', { from_external_id: former, to_external_id: target }, 202);
  const kept = async () => {
    const { rows } = await weir.pool.query(
      `SELECT customer_external_id AS who, 'hour' AS what, sum(event_count)::int AS count FROM customer_usage_hours WHERE meter_id = $1 GROUP BY 1
       UNION ALL SELECT customer_external_id, 'values', count(*)::int FROM customer_value_days WHERE meter_id = $1 GROUP BY 1
       UNION ALL SELECT customer_external_id, 'grouped', count(*)::int FROM customer_group_value_days WHERE meter_id = $1 GROUP BY 1
       UNION ALL SELECT customer_external_id, 'events', count(*)::int FROM events WHERE meter_id = $1 GROUP BY 1 ORDER BY 1, 2`,
      [users.id],
    );
    return rows.map(({ who, what, count }) => [who, what, count]);
  };
  await loseMonth(weir, month);
  // Of somebody else, who had one replayed that was rejected then. No month is empty any more.
  const other = await signUp(weir);
  const calls = { id: (await other.createMeter('SUM')).id, aggregation: 'SUM' as const };
  const months: string[] = [];
  for (let at = month; at <= utcMonthOf(Date.now()); at = monthAfter(at)) months.push(at);
  await recordUsed(
    weir,
    other.id,
    months.map((at) => ({ meter: calls, customer: 'else', at: `${at}-01T10:00:00Z` })),
  );

  const stayed: number[] = [];
  for (let looks = 0; looks < 20; looks += 1)
    await performMoves(
      database,
      -1,
      () => Promise.resolve(true),
      throwIt,
      (hours) => stayed.push(hours),
      PART,
    );
  expect(await billing.get(`/usage-moves/${asked.id}`)).toMatchObject({ status: 'DONE', events: 1 });
  expect(stayed).toEqual([1]);
  const rows = (who: string, hour: number, events: number) => [
    ...(events > 0 ? [[who, 'events', events]] : []),
    ...['grouped', 'hour', 'values'].map((what) => [who, what, hour]),
  ];
  expect(await kept()).toEqual([...rows(former, lost + left, left), ...rows(target, 1, 1)]);
});
