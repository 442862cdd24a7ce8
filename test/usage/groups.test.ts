// Usage by what is in the metadata: grouped by one key and filtered by others, against a count of the events one by one; while keys
// are changed, when a day has too many combinations, and after somebody has changed the tables.

import { AGGREGATION_TYPES, type AggregationType } from '@weir/shared/meter';
import type { Database } from '@weir/db/database';
import { backfillGroups } from '@weir/db/group-backfill';
import { recordEvents, type RecordableEvent } from '@weir/db/record';
import { compareUnit, rebuildUnit } from '@weir/db/rollup-check';
import { newId } from '@weir/shared/ids';
import fc from 'fast-check';
import { hash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { correctSome, correctThird } from '../support/correcting.ts';
import { signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { aroundNothing, instant, MOMENTS, ZONES } from '../support/moments.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import {
  groupBy,
  GROUPINGS,
  isoOf,
  periodOf,
  periodsOf,
  rankedBy,
  usageOf,
  type Grouping,
  type ModelEvent,
} from '../support/usage-model.ts';
import { ownWeir } from '../support/use-weir.ts';

// A failure prints the seed: write it here to see the same events and reads again.
const seed = Date.now() | 0;
const EVENTS = 700;
const READS = 120;

const CUSTOMERS = ['acme', 'Globex', 'Émile & fils'];
const KEYS = ['model', 'a "key"\\ {}', '__proto__'];

const LONG = 'x'.repeat(3_000);
const shortened = (text: string) => `${text.slice(0, 80)}…${hash('sha256', text, 'hex').slice(0, 32)}`;

/** A value as it is spelt in JSON, and as usage is grouped by it. */
const VALUES: { json?: string; text: string | null }[] = [
  { json: '"gpt-4"', text: 'gpt-4' },
  { json: '"GPT-4"', text: 'GPT-4' },
  { json: '42', text: '42' },
  { json: '"42"', text: '42' },
  { json: '4.20e1', text: '42' },
  { json: '-0.50', text: '-0.5' },
  { json: 'true', text: 'true' },
  { json: '"\\u00e9\\ud83d\\ude00,{\\"}\\n"', text: 'é😀,{"}\n' },
  { json: '""', text: '' },
  { json: 'null', text: null },
  { json: '{"a": 1}', text: null },
  { json: '["gpt-4"]', text: null },
  { text: null },
  { json: JSON.stringify(`${LONG}1`), text: shortened(`${LONG}1`) },
  { json: JSON.stringify(`${LONG}2`), text: shortened(`${LONG}2`) },
];

const drafts = fc.record({
  aggregation: fc.constantFrom(...AGGREGATION_TYPES),
  customer: fc.constantFrom(...CUSTOMERS),
  quantity: fc
    .tuple(fc.nat({ max: 50 }), fc.constantFrom('', '.5', '.125'))
    .map(([whole, rest]) => `${whole + 1}${rest}`),
  at: instant,
  user: fc.constantFrom('ada', 'bo', 'cy', 'di'),
  values: fc.tuple(
    fc.constantFrom(...VALUES),
    fc.constantFrom(...VALUES.slice(0, 4)),
    fc.constantFrom(...VALUES.slice(8, 14)),
  ),
});

const weir = ownWeir({ withWorker: false });
let database: Database;
let admin: Organization;
const meterIds = new Map<AggregationType, string>();
const events: ModelEvent[] = [];

beforeAll(async () => {
  database = openTestDatabase(weir);
  admin = await signUp(weir);
});
afterAll(() => database.close());

interface Draft {
  meterId: string;
  customer?: string;
  quantity?: string;
  timestamp: string;
  metadata: string;
  isUnique?: boolean;
}

function recordable({
  meterId,
  customer = 'acme',
  quantity = '1',
  timestamp,
  metadata,
  isUnique = false,
}: Draft): RecordableEvent {
  const event = {
    id: newId(),
    organization_id: admin.id,
    meter_id: meterId,
    customer_external_id: customer,
    quantity,
    timestamp,
    metadata,
  };
  return { event, countsUniqueValues: isUnique };
}

test('events are kept by the keys of their meter, whenever those change and however they are recorded', async () => {
  // Half of the meters have keys from the beginning, and others than they will have.
  for (const [index, aggregation] of AGGREGATION_TYPES.entries()) {
    const keys = index % 2 === 0 ? undefined : ['region', 'model'];
    meterIds.set(aggregation, (await admin.createMeter(aggregation, undefined, keys)).id);
  }
  const all = fc.sample(drafts, { numRuns: EVENTS, seed }).map((drawn) => {
    const { aggregation, customer, quantity, at, user, values } = drawn;
    const meterId = meterIds.get(aggregation) ?? '';
    const members = [`"user_id": "${user}"`];
    for (const [index, { json }] of values.entries())
      if (json !== undefined) members.push(`${JSON.stringify(KEYS[index])}: ${json}`);
    const isUnique = aggregation === 'UNIQUE_COUNT';
    const made = recordable({
      meterId,
      customer,
      quantity,
      timestamp: isoOf(at),
      metadata: `{${members.join()}}`,
      isUnique,
    });
    const byKey = Object.fromEntries(values.map(({ text }, index) => [KEYS[index] ?? '', text]));
    events.push({ id: made.event.id, meterId, customer, quantity, at, user, values: byKey });
    return made;
  });
  const batches: RecordableEvent[][] = [];
  for (let from = 0; from < EVENTS; from += 25) batches.push(all.slice(from, from + 25));
  const deliveries = batches.flatMap((batch, index) =>
    index % 3 === 0 ? [batch, [...batch, ...batch]] : [[...batch, ...batch.slice(0, 5)]],
  );
  let changed: Promise<Answer[]> | undefined;
  for (let round = 0; deliveries.length > 0; round += 1) {
    const recorded = Promise.all(deliveries.splice(0, 4).map((batch) => recordEvents(database.pool, batch)));
    if (round === 3)
      changed = Promise.all(
        [...meterIds.values()].map((id) => admin.ask('PATCH', `/meters/${id}`, { metadata_keys: KEYS })),
      );
    if (round > 5) await backfillGroups(database, 1);
    await recorded;
    // By the keys of before.
    if (round === 2) await correctSome(database, admin.id, events, events.slice(0, 20));
  }
  expect((await changed)?.map(({ body }) => body.metadata_keys)).toEqual([...meterIds].map(() => KEYS));
  await backfillGroups(database, 60_000);
  expect((await weir.pool.query('SELECT FROM metadata_backfills')).rowCount).toBe(0);
  await expectRollupsToEqualEvents(weir.pool);
  const deliverAgain = () => Promise.all(batches.map((batch) => recordEvents(database.pool, batch)));
  await correctThird(database, admin.id, events, deliverAgain);
  await expectRollupsToEqualEvents(weir.pool);
}, 60_000);

interface Read {
  aggregation: AggregationType;
  timezone: string;
  grouping: Grouping;
  customer: string | undefined;
  groupBy: string | undefined;
  limit: number;
  filters: [key: string, value: string][];
  start: bigint;
  end: bigint;
}

const point = fc.tuple(fc.constantFrom(...MOMENTS), aroundNothing);
const wantedValue = fc.constantFrom(
  ...VALUES.map(({ text }) => text).filter((text) => text !== null),
  'nobody',
  `${LONG}1`,
);

const reads: fc.Arbitrary<Read> = fc
  .record({
    aggregation: fc.constantFrom(...AGGREGATION_TYPES),
    timezone: fc.constantFrom(...ZONES),
    grouping: fc.constantFrom(...GROUPINGS),
    customer: fc.option(fc.constantFrom(...CUSTOMERS), { nil: undefined }),
    groupBy: fc.option(fc.constantFrom(...KEYS), { nil: undefined, freq: 4 }),
    limit: fc.constantFrom(1, 2, 3, 20),
    filters: fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), wantedValue), {
      maxLength: 2,
      selector: ([key]) => key,
    }),
    points: fc.tuple(point, point),
  })
  .map(({ points: [[moment, distance], [other, otherDistance]], ...read }) => {
    const from = moment + distance;
    // Groups make many buckets: by the hour and day both ends are near the same moment.
    const isShort = read.grouping === 'hour' || read.grouping === 'day';
    const to = (isShort ? moment : other) + otherDistance;
    return { ...read, start: from < to ? from : to, end: from < to ? to : from };
  });

function usagePath(meterId: string, query: Record<string, string>): string {
  return `/meters/${meterId}/usage?${new URLSearchParams(query).toString()}`;
}

/** What Weir answers to a read, and what it should. */
async function compare({
  aggregation,
  timezone,
  grouping,
  customer,
  groupBy: key,
  limit,
  filters,
  start,
  end,
}: Read): Promise<void> {
  fc.pre(start < end && (key !== undefined || filters.length > 0));
  const meterId = meterIds.get(aggregation) ?? '';
  const usage = await admin.ask(
    'GET',
    usagePath(meterId, {
      start_date: isoOf(start),
      end_date: isoOf(end),
      timezone,
      group_by: grouping,
      ...(customer !== undefined && { customer_external_id: customer }),
      ...(key !== undefined && { group_by_metadata: key, groups_limit: String(limit) }),
      ...Object.fromEntries(filters.map(([name, value]) => [`filter[${name}]`, value])),
    }),
  );
  const counted = events.filter(
    (event) =>
      event.meterId === meterId &&
      event.at >= start &&
      event.at < end &&
      (customer === undefined || event.customer === customer) &&
      filters.every(
        ([name, value]) =>
          event.values?.[name] === (value.length > 100 && !value.includes('…') ? shortened(value) : value),
      ),
  );
  const series = (own: ModelEvent[]) => {
    const byPeriod = groupBy(own, ({ at }) => periodOf(at, timezone, grouping).start);
    return {
      total_usage: usageOf(aggregation, own),
      event_count: own.length,
      grouped_data: periodsOf(start, end, timezone, grouping).map((period) => {
        const inPeriod = byPeriod.get(period.start) ?? [];
        return {
          period: period.period,
          period_start: isoOf(period.start),
          usage: usageOf(aggregation, inPeriod),
          event_count: inPeriod.length,
        };
      }),
    };
  };
  const ranked = key === undefined ? [] : rankedBy(aggregation, counted, ({ values }) => values?.[key] ?? null);
  const rest = ranked.slice(limit).flatMap((group) => group.events);
  expect(usage.body).toEqual({
    meter_id: meterId,
    aggregation_type: aggregation,
    unit: null,
    unique_customers: new Set(counted.map((event) => event.customer)).size,
    period_start: isoOf(start),
    period_end: isoOf(end),
    overflow_event_count: 0,
    ...series(counted),
    ...(key !== undefined && {
      groups: [
        ...ranked.slice(0, limit).map((group) => ({ value: group.of, is_rest: false, ...series(group.events) })),
        ...(rest.length > 0 ? [{ value: null, is_rest: true, ...series(rest) }] : []),
      ],
    }),
  });
}

test('groups, filters and the rest equal a count of the events, in any window, zone and grouping', async () => {
  await fc.assert(fc.asyncProperty(reads, compare), { seed, numRuns: READS });
}, 120_000);

test('a day of more combinations than are kept stays exact in total, and can be made again', async () => {
  const { id } = await admin.createMeter('SUM', undefined, ['request', 'model']);
  const timestamp = '2026-10-05T10:20:00.000Z';
  const make = (request: number, day = timestamp) =>
    recordable({ meterId: id, timestamp: day, metadata: `{"request": ${request}, "model": "m${request % 2}"}` });
  const batches = Array.from({ length: 6 }, (_, batch) =>
    Array.from({ length: 200 }, (__, index) => make(batch * 200 + index)),
  );
  await Promise.all(batches.map((batch) => recordEvents(database.pool, batch)));
  // Neither the same values again nor another day change what the full day keeps.
  await recordEvents(database.pool, [
    ...Array.from({ length: 1200 }, (_, index) => make(index)),
    make(1, '2026-10-06T00:00:00.000Z'),
  ]);
  const window = { start_date: '2026-10-05', end_date: '2026-10-06' };
  const ask = async (query: Record<string, string>) =>
    (await admin.ask('GET', usagePath(id, { ...window, ...query }))).body;

  const byRequest = await ask({ group_by_metadata: 'request', groups_limit: '3' });
  expect(byRequest).toMatchObject({ total_usage: '2401', event_count: 2401, overflow_event_count: 400 });
  expect(byRequest.groups).toMatchObject([
    { event_count: 3, value: '1' },
    { event_count: 2 },
    { event_count: 2 },
    { event_count: 2394, is_rest: true, value: null },
  ]);
  const byModel = await ask({ group_by_metadata: 'model' });
  expect(byModel.groups.map(({ value, is_rest }: { value: string; is_rest: boolean }) => [value, is_rest])).toEqual([
    [byModel.groups[0].value, false],
    [byModel.groups[0].value === 'm0' ? 'm1' : 'm0', false],
    [null, true],
  ]);
  expect(byModel.groups[2]).toMatchObject({ event_count: 400, total_usage: '400' });
  const filtered = await ask({ 'filter[model]': 'm0' });
  const ofModel = byModel.groups.find(({ value }: { value: string }) => value === 'm0');
  expect(filtered).toMatchObject({ event_count: ofModel.event_count, overflow_event_count: 400, unique_customers: 1 });

  // What is kept is written down, so the rollups are made again as they were.
  await expectRollupsToEqualEvents(weir.pool);
  for (const table of ['customer_group_hours', 'meter_group_quarters'])
    await weir.pool.query(`DELETE FROM ${table} WHERE meter_id = $1`, [id]);
  const repaired = await rebuildUnit(database, { organizationId: admin.id, meterId: id, month: '2026-10' });
  expect(repaired.map(({ table }) => table)).toEqual(['customer_group_hours', 'meter_group_quarters']);
  expect(await ask({ group_by_metadata: 'request', groups_limit: '3' })).toEqual(byRequest);
});

test.each([
  ['combinations that are missing', 'DELETE FROM metadata_groups', 'metadata_groups', 'day'],
  [
    'values of a combination that were changed',
    `UPDATE metadata_groups SET group_values[1] = 'wrong'`,
    'metadata_groups',
    'day',
  ],
  ['a group of a customer that is missing', 'DELETE FROM customer_group_hours', 'customer_group_hours', 'hour'],
  [
    'a group of a meter that was changed',
    'UPDATE meter_group_quarters SET event_count = event_count + 1',
    'meter_group_quarters',
    'quarter',
  ],
  [
    'a value of a customer that is missing',
    'DELETE FROM customer_group_value_days',
    'customer_group_value_days',
    'day',
  ],
  [
    'a value of a group in other quarters',
    'UPDATE meter_group_value_days SET quarters = ~quarters',
    'meter_group_value_days',
    'day',
  ],
])('the check of rollups finds %s, and a repair makes them right', async (_, damage, table, grain) => {
  const unit = { organizationId: admin.id, meterId: meterIds.get('UNIQUE_COUNT') ?? '', month: '2025-11' };
  expect(await compareUnit(database, unit)).toEqual([]);
  const ofMonth = (column: string) => `meter_id = $1 AND ${column} >= '2025-11-01' AND ${column} < '2025-12-01'`;
  // A combination whose last event was voided stays, and is compared with nothing.
  const isUsed = `group_hash IN (SELECT group_hash FROM meter_group_quarters WHERE ${ofMonth('quarter')} AND event_count > 0 AND date_trunc('day', quarter, 'UTC') = day)`;
  const first = `SELECT min(ctid) FROM ${table} WHERE ${ofMonth(grain)} AND ${table === 'metadata_groups' ? isUsed : true}`;
  expect((await weir.pool.query(`${damage} WHERE ctid = (${first})`, [unit.meterId])).rowCount).toBe(1);
  expect((await compareUnit(database, unit)).map((each) => each.table)).toEqual([table]);
  expect((await rebuildUnit(database, unit)).map((each) => each.table)).toEqual([table]);
  expect(await compareUnit(database, unit)).toEqual([]);
});

test('while usage is being grouped nothing is read by group; what was rejected comes after', async () => {
  const meter = await admin.createMeter('UNIQUE_COUNT');
  const at = '2026-10-05T10:20:00.000Z';
  const make = (user: string, model: string) =>
    recordable({
      meterId: meter.id,
      timestamp: at,
      metadata: JSON.stringify({ user_id: user, model }),
      isUnique: true,
    });
  await recordEvents(database.pool, [make('ada', 'a'), make('ada', 'b'), make('bo', 'b')]);
  const apiKey = await admin.createKey();
  const body = {
    meter_token: meter.token,
    customer_external_id: 'acme',
    quantity: 1,
    timestamp: at,
    metadata: { model: 'c' },
  };
  const rejected = await weir.request('POST', '/api/v1/sdk/track', { apiKey, body });
  expect(
    (await admin.ask('PATCH', `/meters/${meter.id}`, { metadata_keys: ['model'], name: 'Users' })).body,
  ).toMatchObject({
    metadata_keys: ['model'],
    name: 'Users',
  });
  const path = usagePath(meter.id, { start_date: '2026-10-05', end_date: '2026-10-05', group_by_metadata: 'model' });
  expect(await admin.ask('GET', path)).toMatchObject({ status: 409, body: { code: 'groups_not_ready' } });

  await weir.startWorker();
  await until(async () => (await admin.ask('GET', path)).status === 200, 'the worker has grouped it');
  await weir.drained();
  const receipt = () => admin.ask('GET', `/events/${rejected.body.id}`);
  expect((await receipt()).body.status).toBe('rejected');
  const groups = async () =>
    (await admin.ask('GET', path)).body.groups.map((group: { value: string; total_usage: string }) => [
      group.value,
      group.total_usage,
    ]);
  expect(await groups()).toEqual([
    ['b', '2'],
    ['a', '1'],
  ]);
  await admin.ask('POST', `/events/${rejected.body.id}/replay`, { metadata: { user_id: 'cy', model: 'c' } });
  await until(async () => (await receipt()).body.status === 'recorded', 'the replayed event is recorded');
  expect(await groups()).toEqual([
    ['b', '2'],
    ['a', '1'],
    ['c', '1'],
  ]);
  expect((await admin.ask('GET', path)).body).toMatchObject({ total_usage: '3', unique_customers: 1 });

  // Keys that are given up leave nothing behind.
  await admin.ask('PATCH', `/meters/${meter.id}`, { metadata_keys: [] });
  const left = `SELECT (SELECT count(*) FROM customer_group_hours WHERE meter_id = $1) + (SELECT count(*) FROM meter_group_value_days
    WHERE meter_id = $1) + (SELECT count(*) FROM metadata_backfills WHERE meter_id = $1) AS left`;
  await until(async () => (await weir.pool.query(left, [meter.id])).rows[0].left === '0', 'nothing is left');
  await expectRollupsToEqualEvents(weir.pool);
});
