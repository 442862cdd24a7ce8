// Where a window ends in the middle of an hour, and reads must tell what lies before its end from what lies after it.

import { ROLLUPS } from '@weir/db/rollups';
import { recordEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import type { AggregationType } from '@weir/shared/meter';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { signUp, startWeir, type Organization } from '../support/harness.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { ownWeir } from '../support/use-weir.ts';

let weir = ownWeir({ withWorker: false });
let admin: Organization;
beforeAll(async () => {
  admin = await signUp(weir);
});

interface Sent {
  customer?: string;
  quantity?: string;
  at: string;
  user?: string;
}

const countingUsers = new Set<string>();

async function createMeter(aggregation: AggregationType) {
  const meter = await admin.createMeter(aggregation);
  if (aggregation === 'UNIQUE_COUNT') countingUsers.add(meter.id);
  return meter;
}

const eventOf = (meterId: string, { customer = 'acme', quantity = '1', at, user = 'ada' }: Sent) => ({
  event: {
    id: newId(),
    organization_id: admin.id,
    meter_id: meterId,
    customer_external_id: customer,
    quantity,
    timestamp: at,
    metadata: JSON.stringify({ user_id: user }),
  },
  countsUniqueValues: countingUsers.has(meterId),
});

const record = (meterId: string, ...events: Sent[]) =>
  recordEvents(
    weir.pool,
    events.map((event) => eventOf(meterId, event)),
  );

type Query = Record<string, string>;

async function read(path: string, query: Query = {}) {
  const answer = await admin.ask('GET', `/${path}?${new URLSearchParams(query).toString()}`);
  expect(answer.status).toBe(200);
  return answer.body;
}

/** What a meter has in all, by every way to ask for it. */
async function readAll(meterId: string, query: Query) {
  const whole = await read(`meters/${meterId}/usage`, query);
  const acme = await read(`meters/${meterId}/usage`, { ...query, customer_external_id: 'acme' });
  const { group_by: _, ...window } = query;
  const { data } = await read(`meters/${meterId}/customers`, window);
  return {
    whole: [whole.total_usage, whole.event_count, whole.unique_customers],
    acme: [acme.total_usage, acme.event_count, acme.unique_customers],
    customers: data.map((row: { customer_external_id: string; total_usage: string; event_count: number }) => [
      row.customer_external_id,
      row.total_usage,
      row.event_count,
    ]),
  };
}

const SENT: Sent[] = [
  { at: '2025-11-05T09:10:00Z', quantity: '100' },
  { at: '2025-11-05T10:20:00Z', quantity: '8' },
  { at: '2025-11-05T10:31:00Z', quantity: '16', user: 'grace' },
  { at: '2025-11-05T10:36:59.999999Z', quantity: '32', user: 'alan' },
  { at: '2025-11-05T10:37:00Z', quantity: '64', user: 'edsger' },
  { at: '2025-11-05T10:16:00Z', quantity: '5', customer: 'globex' },
  { at: '2025-11-05T10:37:00Z', quantity: '5000', customer: 'late' },
  { at: '2025-11-05T18:00:00Z', quantity: '0.5', customer: 'globex' },
];

describe.each(['day', 'hour'])('read by the %s, a window that ends among the events of an hour', (group_by) => {
  test.each([
    ['SUM', '161', '156', '5'],
    ['COUNT', '5', '4', '1'],
    ['MAX', '100', '100', '5'],
    ['MIN', '5', '8', '5'],
    ['AVG', '32.2', '39', '5'],
    ['LAST', '32', '32', '5'],
    ['UNIQUE_COUNT', '3', '3', '1'],
  ] as const)('has %s of what comes before its end, and nothing else', async (aggregation, whole, acme, globex) => {
    const meter = await createMeter(aggregation);
    await record(meter.id, ...SENT);
    const query = { start_date: '2025-11-05', end_date: '2025-11-05T10:37:00Z', group_by };
    const customers = [
      ['acme', acme, 4],
      ['globex', globex, 1],
    ];
    expect(await readAll(meter.id, query)).toEqual({ whole: [whole, 5, 2], acme: [acme, 4, 1], customers });
  });
});

test('a window that begins and ends within one hour or one quarter has what lies in it', async () => {
  const meter = await createMeter('SUM');
  await record(meter.id, ...SENT);
  const within = (start: string, end: string) =>
    readAll(meter.id, { start_date: `2025-11-05T${start}Z`, end_date: `2025-11-05T${end}Z` });
  expect((await within('10:16:00', '10:37:00')).whole).toEqual(['61', 4, 2]);
  expect(await within('10:31:00', '10:36:00')).toMatchObject({ whole: ['16', 1, 1], acme: ['16', 1, 1] });
  expect((await within('10:36:59.999999', '10:37:00.000001')).whole).toEqual(['5096', 3, 2]);
  expect((await within('10:32:00', '10:36:00')).whole).toEqual(['0', 0, 0]);
});

test('what is ahead of now is not counted yet, nor is a customer with nothing else', async () => {
  const meter = await createMeter('SUM');
  const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
  await record(
    meter.id,
    { at: at(-1), quantity: '2' },
    { at: at(120), quantity: '40' },
    { at: at(-1), quantity: '3', customer: 'globex' },
    { at: at(120), quantity: '500', customer: 'ahead' },
    { at: at(7_200), quantity: '6000', customer: 'globex' },
  );
  for (const group_by of ['hour', 'day', 'month']) {
    expect(await readAll(meter.id, { group_by })).toEqual({
      whole: ['5', 2, 2],
      acme: ['2', 1, 1],
      customers: [
        ['globex', '3', 1],
        ['acme', '2', 1],
      ],
    });
  }
  const later = { end_date: at(10_000) };
  expect((await readAll(meter.id, later)).whole).toEqual(['6545', 5, 3]);
});

test('parts of a quarter that several workers wrote add up', async () => {
  const meter = await createMeter('SUM');
  const clients = Array.from({ length: 9 }, () => new pg.Client({ connectionString: weir.databaseUrl }));
  try {
    for (const [index, client] of clients.entries()) {
      await client.connect();
      await recordEvents(client as unknown as pg.Pool, [
        eventOf(meter.id, { at: `2025-11-05T10:0${index}:00Z`, quantity: `${index + 1}` }),
      ]);
    }
  } finally {
    for (const client of clients) await client.end();
  }
  const { rows } = await weir.pool.query(`SELECT part FROM ${ROLLUPS.meterUsageQuarters.table} WHERE meter_id = $1`, [
    meter.id,
  ]);
  expect(rows.length).toBeGreaterThan(1);
  const day = { start_date: '2025-11-05', end_date: '2025-11-05', group_by: 'hour' };
  expect((await readAll(meter.id, day)).whole).toEqual(['45', 9, 1]);
  // The end cuts the quarter, and some of its parts go on after it.
  const cut = { start_date: '2025-11-05', end_date: '2025-11-05T10:04:30Z', group_by: 'hour' };
  expect((await readAll(meter.id, cut)).whole).toEqual(['15', 5, 1]);
  const before = { start_date: '2025-11-05', end_date: '2025-11-05T10:08:30Z' };
  expect((await readAll(meter.id, before)).whole).toEqual(['45', 9, 1]);
  await expectRollupsToEqualEvents(weir.pool);
});

test('no event is read one by one where a rollup says that it ends before the window does', async () => {
  const meter = await createMeter('SUM');
  const users = await createMeter('UNIQUE_COUNT');
  for (const { id } of [meter, users]) await record(id, ...SENT.slice(0, 4));
  // As if their month had been archived.
  await weir.pool.query('DELETE FROM events WHERE meter_id = ANY ($1)', [[meter.id, users.id]]);
  for (const group_by of ['day', 'hour']) {
    const query = { start_date: '2025-11-05', end_date: '2025-11-05T10:37:00Z', group_by };
    const acme = ['156', 4, 1];
    expect(await readAll(meter.id, query)).toEqual({ whole: acme, acme, customers: [['acme', '156', 4]] });
    const three = ['3', 4, 1];
    expect(await readAll(users.id, query)).toEqual({ whole: three, acme: three, customers: [['acme', '3', 4]] });
  }
});

test('customers and meters whose streams have one number are told apart', async () => {
  const own = await startWeir({ withWorker: false });
  const [shared, sharedAdmin] = [weir, admin];
  try {
    await own.pool.query(`DROP INDEX events_stream_timestamp_idx;
      CREATE OR REPLACE FUNCTION event_stream(meter_id uuid, customer_external_id text) RETURNS bigint
        LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 1::bigint;
      CREATE INDEX events_stream_timestamp_idx ON events (event_stream(meter_id, customer_external_id), "timestamp")`);
    [weir, admin] = [own, await signUp(own)];
    const [one, other] = [await createMeter('SUM'), await createMeter('SUM')];
    await record(one.id, ...SENT);
    await record(other.id, ...SENT);
    const query = { start_date: '2025-11-05T09:05:00Z', end_date: '2025-11-05T10:37:00Z' };
    const customers = [
      ['acme', '156', 4],
      ['globex', '5', 1],
    ];
    for (const { id } of [one, other]) {
      expect(await readAll(id, query)).toEqual({ whole: ['161', 5, 2], acme: ['156', 4, 1], customers });
    }
    const listed = await read('events', { meter_id: one.id, customer_external_id: 'globex' });
    expect(listed.data).toHaveLength(2);
    expect((await read('events', { meter_id: one.id })).data).toHaveLength(SENT.length);
    expect((await read('events', { customer_external_id: 'late' })).data).toHaveLength(2);
  } finally {
    [weir, admin] = [shared, sharedAdmin];
    await own.close();
  }
});
