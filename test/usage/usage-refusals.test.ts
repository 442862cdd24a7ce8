import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp, startWeir, type Organization, type Weir } from '../support/harness.ts';

let weir: Weir;
let admin: Organization;
beforeAll(async () => {
  weir = await startWeir();
  admin = await signUp(weir);
});
afterAll(() => weir.close());

test('what cannot be read is refused with a sentence that says why', async () => {
  const { id } = await admin.createMeter('SUM');
  const customer = await weir.request('POST', '/api/v1/customers', { session: admin.session, body: {} });
  const read = (path: string, query: Record<string, string> = {}) =>
    weir.request('GET', `/api/v1/${path}?${new URLSearchParams(query).toString()}`, { session: admin.session });
  const refusals: [Record<string, string>, string][] = [
    [{ group_by: 'year' }, 'group_by must be one of hour, day, week, month.'],
    [{ timezone: '+05:30' }, 'timezone must be a time zone of the IANA database, such as Europe/Berlin or UTC.'],
    [
      { timezone: 'Europe/Atlantis' },
      'timezone must be a time zone of the IANA database, such as Europe/Berlin or UTC.',
    ],
    [{ end_date: '2025-02-30' }, 'end_date is not a date of the calendar.'],
    [{ start_date: '2025-11-02T00:00:00' }, 'start_date must say its offset from UTC'],
    [{ start_date: '2025-11-02T00:00Z', end_date: '2025-11-02T00:00Z' }, 'start_date must be before the end'],
    [
      { start_date: '2024-01-01', end_date: '2025-12-31', group_by: 'hour' },
      'group_by would make more than 10000 buckets',
    ],
    [{ customer_id: customer.body.id, customer_external_id: 'acme' }, 'customer_id must not be sent together with'],
    [{ customer_id: 'acme' }, 'customer_id must be the id of a customer record.'],
    [{ customer: 'acme' }, 'customer is not a field of this request: check its spelling.'],
  ];
  for (const [query, detail] of refusals) {
    const { status, body } = await read(`meters/${id}/usage`, query);
    expect([status, body.code]).toEqual([422, 'invalid_request']);
    expect(body.detail).toContain(detail);
  }
  expect(await read('usage')).toMatchObject({ status: 422, body: { detail: 'meter_token is required.' } });
  expect((await read(`meters/${id}/customers`, { group_by: 'day' })).status).toBe(422);
  expect((await read(`customers/${customer.body.id}/usage`, { page: '1' })).status).toBe(422);
});

test('what another organization has is answered like what nobody has', async () => {
  const meter = await admin.createMeter('SUM');
  const event = {
    meter_token: meter.token,
    customer_external_id: 'shared',
    quantity: 7,
    timestamp: '2025-11-05T10:30:00Z',
  };
  await weir.request('POST', '/api/v1/sdk/track', { apiKey: await admin.createKey(), body: event });
  await weir.drained();
  const customer = await weir.request('POST', '/api/v1/customers', { session: admin.session, body: {} });
  const stranger = await signUp(weir);
  const ask = (path: string) => weir.request('GET', `/api/v1/${path}`, { session: stranger.session });
  const nobody = '0190b5a0-0000-7000-8000-000000000000';
  const own = await stranger.createMeter('SUM');
  const pairs = [
    [`meters/${meter.id}/usage`, `meters/${nobody}/usage`],
    [`meters/${meter.id}/customers`, `meters/${nobody}/customers`],
    [`customers/${customer.body.id}/usage`, `customers/${nobody}/usage`],
    [`usage?meter_token=${meter.token}`, 'usage?meter_token=unknown'],
    [`meters/${own.id}/usage?customer_id=${customer.body.id}`, `meters/${own.id}/usage?customer_id=${nobody}`],
  ] as const;
  for (const [theirs, none] of pairs) {
    const [first, second] = [await ask(theirs), await ask(none)];
    expect(first.status).toBe(404);
    expect({ ...first.body, request_id: '' }).toEqual({ ...second.body, request_id: '' });
  }
  const usage = await ask(
    `meters/${own.id}/usage?start_date=2025-11-01&end_date=2025-11-30&customer_external_id=shared`,
  );
  expect(usage.body.event_count).toBe(0);
});

test('usage is read with a session or a key that may read, and with nothing else', async () => {
  const meter = await admin.createMeter('SUM');
  const writer = await admin.createKey('usage.write');
  const reader = await admin.createKey('usage.read');
  for (const path of [`meters/${meter.id}/usage`, `meters/${meter.id}/customers`, `usage?meter_token=${meter.token}`]) {
    expect((await weir.request('GET', `/api/v1/${path}`)).status).toBe(401);
    expect((await weir.request('GET', `/api/v1/${path}`, { apiKey: writer })).status).toBe(403);
    expect((await weir.request('GET', `/api/v1/${path}`, { apiKey: reader })).status).toBe(200);
    expect((await weir.request('GET', `/api/v1/${path}`, { session: admin.session })).status).toBe(200);
  }
});
