import { beforeAll, expect, test } from 'vitest';
import { signUp, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let admin: Organization;
beforeAll(async () => {
  admin = await signUp(weir);
});

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

test('what cannot be asked of metadata is refused with a sentence that says why', async () => {
  const { id } = await admin.createMeter('SUM', undefined, ['model', 'region']);
  const plain = await admin.createMeter('SUM');
  const refusals: [meter: string, query: string, detail: string][] = [
    [id, 'group_by_metadata=user', 'group_by_metadata must be one of the metadata_keys of the meter: model, region.'],
    [plain.id, 'group_by_metadata=model', 'and it has none: name some with PATCH /api/v1/meters/{id}.'],
    [id, 'filter[user]=x', 'filter[user] must be one of the metadata_keys of the meter: model, region.'],
    [id, 'filter[__proto__]=x', 'filter[__proto__] must be one of the metadata_keys of the meter: model, region.'],
    [id, 'filter[constructor]=x&group_by_metadata=__proto__', '2 problems are listed in errors.'],
    [id, `filter[${'k'.repeat(9_000)}]=x`, `filter[${'k'.repeat(100)}] must be one of`],
    [id, 'filter[]=x', 'filter[] must be one of'],
    [id, 'filter=x', 'filter write filter[model]=gpt-4'],
    [id, 'filter[model]=a&filter[model]=b', 'filter[model] must be sent once.'],
    [id, 'filter[model]=a%00b', 'filter[model] must not hold a NUL character'],
    [
      id,
      Array.from({ length: 1_000 }, (_, index) => `filter[k${index}]=`).join('&'),
      'filter must name at most 5 keys',
    ],
    [id, 'filter[model]=a&filter=b', '2 problems are listed in errors.'],
    [id, 'group_by_metadata=model&groups_limit=101', 'groups_limit must be a whole number from 1 to 100.'],
    [
      id,
      'group_by_metadata=model&groups_limit=100&group_by=hour&start_date=2025-11-01&end_date=2025-11-30',
      'groups_limit would make more than 50000 buckets',
    ],
  ];
  for (const [meter, query, detail] of refusals) {
    const { status, body } = await admin.ask('GET', `/meters/${meter}/usage?${query}`);
    expect([status, body.code], query.slice(0, 80)).toEqual([422, 'invalid_request']);
    expect(body.detail).toContain(detail);
  }
  // Values of any form are looked for and not found.
  for (const value of ['x'.repeat(8_192), '\u202e😀', "'; DROP TABLE events; --", '{"a":[', '\\', '%'])
    expect(
      (await admin.ask('GET', `/meters/${id}/usage?filter[model]=${encodeURIComponent(value)}`)).body.event_count,
    ).toBe(0);
});

test('keys that cannot be named are refused', async () => {
  const { id } = await admin.createMeter('SUM');
  const refusals: [keys: unknown, message: string][] = [
    [['a', 'b', 'c', 'd', 'e', 'f'], 'metadata_keys must have at most 5 keys.'],
    [['a', 'a'], 'metadata_keys must name each key once.'],
    [[''], 'metadata_keys[0] must have 1 to 64 characters.'],
    [['x'.repeat(65)], 'metadata_keys[0] must have 1 to 64 characters.'],
    [['a\0'], 'metadata_keys[0] must not hold a NUL character or half of a surrogate pair.'],
    ['model', 'metadata_keys must be a list of at most 5 keys.'],
    [null, 'metadata_keys must be a list of at most 5 keys.'],
  ];
  for (const [keys, message] of refusals) {
    const { status, body } = await admin.ask('PATCH', `/meters/${id}`, { metadata_keys: keys });
    expect([status, body.detail]).toEqual([422, message]);
  }
  const toggle = { name: 'Toggle', lookup_key: 'toggle', type: 'switch', metadata_keys: ['model'] };
  expect((await admin.ask('POST', '/features', toggle)).status).toBe(422);
  expect((await admin.ask('GET', `/meters/${id}`)).body.metadata_keys).toEqual([]);
});
