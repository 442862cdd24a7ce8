// An hour may have more events than one transaction should move: others wait for no more than a part of it, and whoever dies, records,
// corrects or closes between two parts finds each event under one of the two ids, and counted once.

import type { Database } from '@weir/db/database';
import { performMoves } from '@weir/db/moves/perform-moves';
import { closeUntil } from '@weir/db/billing/usage/closing';
import { recordEvents } from '@weir/db/record';
import { ROLLUPS } from '@weir/db/rollups';
import { newId } from '@weir/shared/ids';
import { countsValues, type AggregationType } from '@weir/shared/meter';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seenByClosing } from '../support/closing-meanwhile.ts';
import { performAllMoves, throwIt } from '../support/erasing.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { attachMonth, detachMonth, makeMonthsSince, recordUsed } from '../support/months.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { ownWeir } from '../support/use-weir.ts';

/** So many events are moved at a time here. */
const PART = 50;
/** More than two parts of an hour. */
const EVENTS = 120;
const HOUR = '2025-01-05T10:00:00Z';
const ALL = `SELECT customer_external_id AS who, count(*)::int AS events FROM events WHERE organization_id = $1 GROUP BY 1 ORDER BY 1`;

const weir = ownWeir({ withWorker: false, unobserved: true });
let database: Database;
beforeAll(() => {
  database = openTestDatabase(weir);
});
afterAll(() => database.close());

interface Meter {
  id: string;
  aggregation: AggregationType;
}

async function meterOf(admin: Organization, aggregation: AggregationType, keys: string[] = []): Promise<Meter> {
  return { id: (await admin.createMeter(aggregation, undefined, keys)).id, aggregation };
}

/** Records events of one hour: some have the same instant, and some the same value. Returns their ids. */
async function record(admin: Organization, meter: Meter, customer: string, count: number, since = 0) {
  const events = Array.from({ length: count }, (_, index) => {
    const at = since + index;
    return {
      event: {
        id: newId(),
        organization_id: admin.id,
        meter_id: meter.id,
        customer_external_id: customer,
        quantity: String(1 + (at % 37)),
        timestamp: new Date(Date.parse(HOUR) + Math.floor(at / 10) * 100_000).toISOString(),
        metadata: JSON.stringify({ user_id: at % 71, model: `m${at % 5}`, note: 'private' }),
      },
      countsUniqueValues: countsValues(meter.aggregation),
    };
  });
  expect((await recordEvents(database.pool, events)).recorded).toBe(count);
  return events.map(({ event }) => event.id);
}

/** Moves the first part, or the next one: no time is left behind it. */
const moveOnePart = () =>
  performMoves(
    database,
    -1,
    () => Promise.resolve(true),
    throwIt,
    () => {},
    PART,
  );

const ask = (admin: Organization, path: string, body: object) => admin.call('POST', path, body, 202);

/** What counts and sums say of both ids, by the events and by rollups of them. */
async function counted(admin: Organization) {
  const sums = (table: string, events: string, quantity: string, condition = 'true') =>
    weir.pool.query(
      `SELECT customer_external_id AS who, ${events}::int AS events, ${quantity}::int AS quantity FROM ${table}
       WHERE organization_id = $1 AND ${condition} GROUP BY 1 ORDER BY 1`,
      [admin.id],
    );
  const ofRollup = (table: string) => sums(table, 'sum(event_count)', 'sum(quantity_sum)');
  const { customerUsageHours: hours, customerUsageDays: days, customerGroupHours: groups } = ROLLUPS;
  const [ofEvents, ...ofRollups] = await Promise.all([
    sums('events', 'count(*)', 'sum(quantity)', 'NOT EXISTS (SELECT FROM corrections WHERE event_id = events.id)'),
    ...[hours, days, groups].map(({ table }) => ofRollup(table)),
  ]);
  return { ofEvents: ofEvents?.rows, ofRollups: ofRollups.map(({ rows }) => rows) };
}

const voidEvent = (admin: Organization, id: string) => admin.ask('POST', `/events/${id}/void`, { reason: 'a test' });

test('an hour with very many events is moved in parts, and what happens between them is counted once', async () => {
  const admin = await signUp(weir);
  const meter = await meterOf(admin, 'UNIQUE_COUNT', ['model']);
  const [first = '', ...sent] = await record(admin, meter, 'a-wrong', EVENTS);
  const [ofTarget = ''] = await record(admin, meter, 'b-right', 30, 50);
  // What is moved has the same values.
  const others = await record(admin, meter, 'c-other', 10, 40);
  const { id } = await ask(admin, '/usage-moves', { from_external_id: 'a-wrong', to_external_id: 'b-right' });
  let left = EVENTS;
  // Two parts of events, and one of the values that they have left.
  for (let parts = 0; parts < 3; parts += 1) {
    expect(await moveOnePart()).toEqual([]);
    const { ofEvents, ofRollups } = await counted(admin);
    const [former] = ofEvents ?? [];
    expect(former).toMatchObject({ who: 'a-wrong' });
    // Others have waited for no more than this.
    expect(left - former.events).toBeLessThanOrEqual(PART);
    left = former.events;
    for (const rows of ofRollups) expect(rows).toEqual(ofEvents);
    // What is left of the hour still tells of one that has come.
    expectProblem(await voidEvent(admin, first), 409, 'usage_moving');
    const own = await voidEvent(admin, ofTarget);
    expectProblem(own, 409, 'usage_moving');
    expect(own.body).toMatchObject({
      id,
      detail: expect.stringContaining('Usage of another external_id is just being'),
    });
    expect(await voidEvent(admin, others[parts] ?? '')).toMatchObject({ status: 201 });
  }
  const { rows: last } = await weir.pool.query(
    `SELECT last_event_id::text FROM customer_usage_hours WHERE organization_id = $1 AND customer_external_id = 'a-wrong'`,
    [admin.id],
  );
  expect(last).toEqual([{ last_event_id: sent.at(-1) }]);
  await record(admin, meter, 'a-wrong', 20, 10);
  await record(admin, meter, 'b-right', 20, 20);
  await performAllMoves(database);
  expect((await weir.pool.query(ALL, [admin.id])).rows).toEqual([
    { who: 'b-right', events: EVENTS + 70 },
    { who: 'c-other', events: 10 },
  ]);
  await expectRollupsToEqualEvents(weir.pool);
  expect(await voidEvent(admin, first)).toMatchObject({ status: 201 });
  await expectRollupsToEqualEvents(weir.pool);
  const state = await admin.ask('GET', `/usage-moves/${id}`);
  expect(state.body).toMatchObject({ status: 'DONE', events: EVENTS + 20 });
});

test('a part that is moved behind a closing is late, and what was moved before it is not', async () => {
  const admin = await signUp(weir);
  const meter = await meterOf(admin, 'SUM');
  await record(admin, meter, 'a-wrong', EVENTS);
  await ask(admin, '/usage-moves', { from_external_id: 'a-wrong', to_external_id: 'b-right' });
  await moveOnePart();
  const until = '2025-01-06T00:00:00Z';
  expect(await closeUntil(database, admin.id, { until, notBefore: until })).toBe(1);
  await performAllMoves(database);
  const { rows } = await weir.pool.query(
    `SELECT customer_external_id AS who, closing::int, count(*)::int AS late, count(DISTINCT event_id)::int AS events
     FROM late_events WHERE organization_id = $1 GROUP BY 1, 2`,
    [admin.id],
  );
  expect(rows).toEqual([{ who: 'b-right', closing: 1, late: EVENTS - PART, events: EVENTS - PART }]);
  await expectRollupsToEqualEvents(weir.pool);
});

test('a closing waits for a slice that is under way, of which nothing is late then', async () => {
  const admin = await signUp(weir);
  await record(admin, await meterOf(admin, 'SUM'), 'a-wrong', 10);
  await ask(admin, '/usage-moves', { from_external_id: 'a-wrong', to_external_id: 'b-right' });
  const seen = await seenByClosing(weir, database, admin.id, {
    change: 'UPDATE ON events',
    work: () => performAllMoves(database),
    look: async () => (await weir.pool.query(ALL, [admin.id])).rows,
  });
  expect(seen).toEqual([{ who: 'b-right', events: 10 }]);
});

test('a customer with very many events of an hour is erased in parts, also those that were late', async () => {
  const admin = await signUp(weir);
  const meter = await meterOf(admin, 'UNIQUE_COUNT', ['model']);
  const until = '2025-01-06T00:00:00Z';
  await closeUntil(database, admin.id, { until, notBefore: until });
  await record(admin, meter, 'ada', EVENTS);
  const read = async () =>
    (await admin.ask('GET', `/meters/${meter.id}/usage?start_date=2025-01-05&end_date=2025-01-06`)).body;
  const before = await read();
  const { external_id: erased } = await ask(admin, '/erasures', { customer_external_id: 'ada' });
  await moveOnePart();
  const { ofEvents, ofRollups } = await counted(admin);
  expect(ofEvents?.map(({ events }) => events)).toEqual(expect.arrayContaining([PART, EVENTS - PART]));
  for (const rows of ofRollups) expect(rows).toEqual(ofEvents);
  await performAllMoves(database);
  expect(await read()).toEqual(before);
  expect((await weir.pool.query(ALL, [admin.id])).rows).toEqual([{ who: erased, events: EVENTS }]);
  const { rows: late } = await weir.pool.query(
    'SELECT customer_external_id AS who, count(*)::int AS late FROM late_events WHERE organization_id = $1 GROUP BY 1',
    [admin.id],
  );
  expect(late).toEqual([{ who: erased, late: EVENTS }]);
  await expectRollupsToEqualEvents(weir.pool);
  const { rows: named } = await weir.pool.query(
    `SELECT FROM events WHERE organization_id = $1 AND metadata::text LIKE '%private%' LIMIT 1`,
    [admin.id],
  );
  expect(named).toEqual([]);
});

test.each([
  ['usage-moves', { from_external_id: 'former', to_external_id: 'target' }],
  ['erasures', { customer_external_id: 'former' }],
])('nothing more of an hour goes once its month is detached between two of its parts: %s', async (path, request) => {
  const admin = await signUp(weir);
  await makeMonthsSince(weir, '2025-05-01');
  await weir.pool.query(`UPDATE organizations SET created_at = '2025-05-01' WHERE id = $1`, [admin.id]);
  const users = await meterOf(admin, 'UNIQUE_COUNT');
  const of = (user: number) => ({ meter: users, customer: 'former', at: '2025-05-10T10:10:00Z', user: `u${user}` });
  await recordUsed(
    weir,
    admin.id,
    Array.from({ length: EVENTS }, (_, user) => of(user)),
  );
  const { id } = await ask(admin, `/${path}`, request);
  // Only while a month is missing an erasure counts an hour before its first part.
  const missing = path === 'erasures' ? ['2025-06'] : [];
  for (const month of missing) await detachMonth(weir, month);
  const lookOnce = async () => {
    let kept: unknown;
    const onError = (error: unknown) => (kept = error);
    await performMoves(
      database,
      -1,
      () => Promise.resolve(true),
      onError,
      () => {},
      PART,
    );
    return kept;
  };
  const values = async () => {
    const { rows } = await weir.pool.query(
      `SELECT count(*) FILTER (WHERE customer_external_id = 'former')::int AS stayed,
         count(*) FILTER (WHERE customer_external_id <> 'former')::int AS gone
       FROM customer_value_days WHERE organization_id = $1`,
      [admin.id],
    );
    return rows[0];
  };
  expect(await lookOnce()).toBeUndefined();
  const before = await values();
  expect(before.gone).toBe(PART);

  await detachMonth(weir, '2025-05');
  for (let looks = 0; looks < 3; looks += 1) {
    expect(await lookOnce()).toMatchObject({ name: 'MonthTakenOut', month: '2025-05' });
    expect(await values()).toEqual(before);
  }
  for (const month of [...missing, '2025-05']) await attachMonth(weir, month);
  await performAllMoves(database);
  expect(await admin.call('GET', `/${path}/${id}`)).toMatchObject({ status: 'DONE', events: EVENTS });
  expect(await values()).toEqual({ stayed: 0, gone: EVENTS });
});
