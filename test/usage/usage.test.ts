import { beforeAll, expect, test } from 'vitest';
import { signUp, type Answer, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let admin: Organization;
let apiKey: string;
beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
});

interface Sent {
  customer?: string;
  quantity?: number;
  at?: string;
  user?: string | number;
}

/** Tracks events and waits until they are recorded. */
async function track(token: string, ...events: Sent[]): Promise<void> {
  const body = {
    events: events.map(({ customer = 'acme', quantity = 1, at, user }) => ({
      meter_token: token,
      customer_external_id: customer,
      quantity,
      ...(at !== undefined && { timestamp: at }),
      ...(user !== undefined && { metadata: { user_id: user } }),
    })),
  };
  const answer = await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, body });
  expect(answer.status).toBe(201);
  await weir.drained();
}

type Query = Record<string, string>;

function read(path: string, query: Query = {}): Promise<Answer> {
  return weir.request('GET', `/api/v1/${path}?${new URLSearchParams(query).toString()}`, { apiKey });
}

const NOVEMBER = { start_date: '2025-11-01', end_date: '2025-11-30' };

test('a meter is read since the midnight 30 days ago by the day, unless it is asked otherwise', async () => {
  const meter = await admin.createMeter('SUM', 'tokens');
  await track(meter.token, { quantity: 82450 }, { quantity: 0.1, customer: 'globex' }, { quantity: 0.2 });
  const before = Date.now();
  const { status, body } = await read(`meters/${meter.id}/usage`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    meter_id: meter.id,
    aggregation_type: 'SUM',
    unit: 'tokens',
    total_usage: '82450.3',
    event_count: 3,
    unique_customers: 2,
  });
  expect(Date.parse(body.period_end)).toBeGreaterThanOrEqual(before);
  const midnight = Math.floor(Date.parse(body.period_end) / 86_400_000) * 86_400_000;
  expect(Date.parse(body.period_start)).toBe(midnight - 30 * 86_400_000);
  expect(body.grouped_data).toHaveLength(31);
  const filled = body.grouped_data.filter((bucket: { event_count: number }) => bucket.event_count > 0);
  expect(filled).toMatchObject([{ usage: '82450.3', event_count: 3 }]);
  expect(body.grouped_data[0]).toMatchObject({ usage: '0', event_count: 0 });
});

test('bare dates are whole days of the time zone, and windows are half-open', async () => {
  const meter = await admin.createMeter('COUNT');
  await track(
    meter.token,
    { at: '2025-11-01T03:59:59.999999Z' },
    { at: '2025-11-01T04:00:00Z' },
    { at: '2025-11-02T04:59:59.999999Z' },
    { at: '2025-11-02T05:00:00Z' },
    { at: '2025-11-03T04:59:59.999999Z' },
    { at: '2025-11-03T05:00:00Z' },
  );
  const { body } = await read(`meters/${meter.id}/usage`, {
    start_date: '2025-11-01',
    end_date: '2025-11-02',
    timezone: 'America/New_York',
  });
  expect(body).toEqual({
    meter_id: meter.id,
    aggregation_type: 'COUNT',
    unit: null,
    total_usage: '4',
    event_count: 4,
    unique_customers: 1,
    period_start: '2025-11-01T04:00:00.000Z',
    period_end: '2025-11-03T05:00:00.000Z',
    grouped_data: [
      // New York leaves daylight saving on 2 November 2025: that day has 25 hours.
      { period: '2025-11-01', period_start: '2025-11-01T04:00:00.000Z', usage: '1', event_count: 1 },
      { period: '2025-11-02', period_start: '2025-11-02T04:00:00.000Z', usage: '3', event_count: 3 },
    ],
  });
  const exact = { start_date: '2025-11-02T04:59:59.999999Z', end_date: '2025-11-03T04:59:59.999999Z' };
  expect((await read(`meters/${meter.id}/usage`, exact)).body.total_usage).toBe('2');
});

test('the two hours at one o’clock of a night when clocks go back are told apart', async () => {
  const meter = await admin.createMeter('SUM');
  await track(meter.token, { at: '2025-11-02T05:30:00Z', quantity: 5 }, { at: '2025-11-02T06:30:00Z', quantity: 6 });
  const { body } = await read(`meters/${meter.id}/usage`, {
    start_date: '2025-11-02',
    end_date: '2025-11-02',
    timezone: 'America/New_York',
    group_by: 'hour',
  });
  expect(body.grouped_data).toHaveLength(25);
  expect(body.grouped_data.slice(1, 3)).toMatchObject([
    { period: '2025-11-02T01:00-04:00', period_start: '2025-11-02T05:00:00.000Z', usage: '5' },
    { period: '2025-11-02T01:00-05:00', period_start: '2025-11-02T06:00:00.000Z', usage: '6' },
  ]);
});

test('an event that comes in late is in the next read of its own period', async () => {
  const meter = await admin.createMeter('SUM');
  const query = { ...NOVEMBER, group_by: 'month' };
  await track(meter.token, { at: '2025-11-30T23:59:59.999999Z', quantity: 1 });
  expect((await read(`meters/${meter.id}/usage`, query)).body.total_usage).toBe('1');
  await track(meter.token, { at: '2025-11-03T00:00:00Z', quantity: 2.5 });
  const { body } = await read(`meters/${meter.id}/usage`, query);
  expect(body.grouped_data).toEqual([
    { period: '2025-11', period_start: '2025-11-01T00:00:00.000Z', usage: '3.5', event_count: 2 },
  ]);
});

test.each([
  ['COUNT', '4', '0'],
  ['SUM', '10.5', '0'],
  ['MAX', '7', null],
  ['MIN', '0.5', null],
  ['AVG', '2.625', null],
  ['LAST', '2', null],
  ['UNIQUE_COUNT', '3', '0'],
] as const)('%s of four events is %s, and of none %s', async (aggregation, usage, nothing) => {
  const meter = await admin.createMeter(aggregation);
  await track(
    meter.token,
    { at: '2025-11-20T10:59:59.9Z', quantity: 7, user: 'ada' },
    { at: '2025-11-20T18:00:00.000002Z', quantity: 2, user: 42 },
    { at: '2025-11-20T18:00:00.000001Z', quantity: 0.5, user: '42' },
    { at: '2025-11-20T11:00:00Z', quantity: 1, user: 'grace' },
  );
  const { body } = await read(`meters/${meter.id}/usage`, { start_date: '2025-11-19', end_date: '2025-11-20' });
  expect(body).toMatchObject({ total_usage: usage, event_count: 4 });
  expect(body.grouped_data).toMatchObject([
    { period: '2025-11-19', usage: nothing, event_count: 0 },
    { period: '2025-11-20', usage, event_count: 4 },
  ]);
  const empty = await read(`meters/${meter.id}/usage`, { start_date: '2025-01-01', end_date: '2025-01-01' });
  expect(empty.body).toMatchObject({ total_usage: nothing, event_count: 0, unique_customers: 0 });
});

test('a user who comes on two days is one user of the window', async () => {
  const meter = await admin.createMeter('UNIQUE_COUNT');
  await track(
    meter.token,
    { at: '2025-11-01T12:00:00Z', user: 'ada' },
    { at: '2025-11-02T12:00:00Z', user: 'ada' },
    { at: '2025-11-02T23:30:00Z', user: 'grace' },
  );
  const query = { start_date: '2025-11-01', end_date: '2025-11-02T23:45:00Z' };
  const { body } = await read(`meters/${meter.id}/usage`, query);
  expect(body.total_usage).toBe('2');
  expect(body.grouped_data.map((bucket: { usage: string }) => bucket.usage)).toEqual(['1', '2']);
});

test('a meter is found by its token, and usage of one customer by either of its identifiers', async () => {
  const meter = await admin.createMeter('SUM');
  await track(
    meter.token,
    { at: '2025-11-05T01:00:00Z', quantity: 3, customer: 'initech' },
    { at: '2025-11-05T01:00:00Z', quantity: 4, customer: 'no-record' },
  );
  const customer = await admin.ask('POST', '/customers', { external_id: 'initech', name: 'Initech' });
  const query = { ...NOVEMBER, meter_token: meter.token };
  const all = await read('usage', query);
  expect(all.body).toMatchObject({ meter_id: meter.id, total_usage: '7', unique_customers: 2 });
  const byId = await read('usage', { ...query, customer_id: customer.body.id });
  const byExternalId = await read('usage', { ...query, customer_external_id: 'initech' });
  expect(byId.body).toMatchObject({ total_usage: '3', event_count: 1, unique_customers: 1 });
  expect(byExternalId.body).toEqual(byId.body);
  const unknown = await read('usage', { ...query, customer_external_id: 'nobody' });
  expect(unknown.body).toMatchObject({ total_usage: '0', event_count: 0, unique_customers: 0 });
});

test('the customers of a meter come by usage, largest first, with or without a record', async () => {
  const meter = await admin.createMeter('AVG');
  await admin.ask('POST', '/customers', { external_id: 'known', name: 'Known' });
  const at = '2025-11-05T10:30:00Z';
  await track(
    meter.token,
    { at, customer: 'b', quantity: 2 },
    { at, customer: 'a', quantity: 2 },
    { at, customer: 'known', quantity: 1 },
    { at, customer: 'known', quantity: 9 },
    { at, customer: 'known', quantity: 9 },
    { at: '2025-10-31T23:59:59.999999Z', customer: 'earlier', quantity: 100 },
  );
  const first = await read(`meters/${meter.id}/customers`, { ...NOVEMBER, page_size: '2' });
  expect(first.body).toMatchObject({
    meter_id: meter.id,
    period_start: '2025-11-01T00:00:00.000Z',
    period_end: '2025-12-01T00:00:00.000Z',
    meta: { page: 1, page_size: 2, total: 3, total_pages: 2 },
  });
  expect(first.body.data).toEqual([
    {
      customer_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      customer_external_id: 'known',
      name: 'Known',
      total_usage: '6.333333333333',
      event_count: 3,
    },
    { customer_id: null, customer_external_id: 'a', name: null, total_usage: '2', event_count: 1 },
  ]);
  const second = await read(`meters/${meter.id}/customers`, { ...NOVEMBER, page_size: '2', page: '2' });
  expect(second.body.data.map((row: { customer_external_id: string }) => row.customer_external_id)).toEqual(['b']);
  const past = await read(`meters/${meter.id}/customers`, { ...NOVEMBER, page: '9' });
  expect(past.body).toMatchObject({ data: [], meta: { total: 3 } });
});

test('a customer is read on every meter, archived ones and those without usage too', async () => {
  const other = await signUp(weir);
  const key = await other.createKey();
  const sum = await other.createMeter('SUM', 'GB');
  const users = await other.createMeter('UNIQUE_COUNT');
  const last = await other.createMeter('LAST');
  const customer = await other.ask('POST', '/customers', { external_id: 'acme' });
  const event = (token: string, quantity: number, timestamp: string) => ({
    meter_token: token,
    customer_external_id: 'acme',
    quantity,
    timestamp,
    metadata: { user_id: 'ada' },
  });
  await weir.request('POST', '/api/v1/sdk/track/batch', {
    apiKey: key,
    body: {
      events: [
        event(sum.token, 1.5, '2025-11-05T10:30:00Z'),
        event(sum.token, 1.5, '2025-11-07T10:30:00Z'),
        event(users.token, 1, '2025-11-05T10:30:00Z'),
        event(users.token, 1, '2025-11-06T10:30:00Z'),
      ],
    },
  });
  await weir.drained();
  await other.ask('PATCH', `/meters/${sum.id}`, { status: 'ARCHIVED' });

  const { status, body } = await other.ask(
    'GET',
    `/customers/${customer.body.id}/usage?start_date=2025-11-01&end_date=2025-11-06`,
  );
  expect(status).toBe(200);
  expect(body).toMatchObject({
    customer_id: customer.body.id,
    customer_external_id: 'acme',
    period_start: '2025-11-01T00:00:00.000Z',
    period_end: '2025-11-07T00:00:00.000Z',
  });
  expect(body.data).toMatchObject([
    { meter_id: last.id, aggregation_type: 'LAST', total_usage: null, event_count: 0 },
    { meter_id: users.id, aggregation_type: 'UNIQUE_COUNT', total_usage: '1', event_count: 2 },
    {
      meter_id: sum.id,
      meter_token: sum.token,
      aggregation_type: 'SUM',
      unit: 'GB',
      status: 'ARCHIVED',
      total_usage: '1.5',
      event_count: 1,
    },
  ]);
  expect(
    (await other.ask('GET', `/meters/${sum.id}/usage?start_date=2025-11-01&end_date=2025-11-30`)).body.total_usage,
  ).toBe('3');
});
