// A customer is erased: nothing that is kept names it, and all that was counted and billed stays as it was.

import type { Database } from '@weir/db/database';
import { performMoves } from '@weir/db/moves/perform-moves';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { correctThree, dumpOf, findInRedis, findInTables, performAllMoves, throwIt } from '../support/erasing.ts';
import { readOpenapi } from '../support/openapi-document.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { reconcileHere } from '../support/reconcile-fixture.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { untilGrouped } from '../support/until-grouped.ts';
import { ownWeir } from '../support/use-weir.ts';

const ID = 'ada "the first" løvelace';
const EMAIL = 'ada@lovelace.example';
const NOTE = 'called about her mother';
const KEY = 'ada-order-17';
/** It stands with payments of invoices and lines that were added, and stays with their copies. */
const REFERENCE = 'ada-bank 17';
const RECORD = {
  external_id: ID,
  name: 'Ada Lovelace-King',
  email: EMAIL,
  phone: '+44 20 7946 0000',
  legal_name: 'Ada Augusta King',
  tax_id: 'GB 18151127',
  billing_address_line1: '12 St. James Square',
  billing_address_line2: 'Left door',
  billing_address_city: 'Londinium',
  metadata: { crm: NOTE },
};
/** As they stand in a row as JSON. */
const NAMES = [
  JSON.stringify(ID).slice(1, -1),
  EMAIL,
  NOTE,
  KEY,
  'Lovelace-King',
  '7946 0000',
  'James Square',
  'Augusta King',
  '18151127',
  'Left door',
  'ada-user',
  'ada-sub',
];

const weir = ownWeir();
let database: Database;
beforeAll(async () => {
  database = openTestDatabase(weir);
});
afterAll(() => database.close());

interface Story {
  billing: Invoicing;
  customer: string;
  meters: { id: string; token: string }[];
  apiKey: string;
  subscription: string;
  track(events: Record<string, unknown>[]): Promise<{ status: number; id: string }[]>;
}

/** Everything that can name a customer, does. */
async function tell(): Promise<Story> {
  const billing = await startInvoicing(weir);
  const apiKey = await billing.admin.createKey('usage.write', 'usage.read');
  const meters = [
    await billing.meter('SUM'),
    await billing.meter('UNIQUE_COUNT'),
    await billing.meter('MAX'),
    await billing.meter('LAST'),
  ];
  for (const { id } of meters.slice(0, 2)) {
    const changed = await billing.request('PATCH', `/meters/${id}`, { metadata_keys: ['model'] });
    expect(changed.status).toBe(200);
  }
  const plan = await billing.plan([
    { type: 'FIXED', display_name: 'Base', unit_price: '10' },
    ...meters.map(({ id }) => ({ type: 'USAGE', display_name: 'Calls', meter_id: id, unit_price: '0.015' })),
  ]);
  await billing.moveTo('2025-01-01T00:10:00Z');
  const customer = await billing.customer(RECORD);
  const { id: subscription } = await billing.subscribe(plan.id, customer.id, {
    start_date: '2025-01-01T00:00:00Z',
    external_id: 'ada-sub',
  });
  const track: Story['track'] = async (events) => {
    const answer = await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, body: { events } });
    await weir.drained();
    return answer.body.data;
  };
  return { billing, customer: customer.id, meters, apiKey, subscription, track };
}

/** Events of both customers in the same hours, with some of the same users and models. */
function usageOf(story: Story, month: string, count: number, keyed?: string): Record<string, unknown>[] {
  const two = (number: number): string => String(number).padStart(2, '0');
  return Array.from({ length: count }, (_, index) => {
    const isBeta = index % 3 === 0;
    const user = isBeta ? `beta-user ${index % 5}` : `ada-user ${index % 5}`;
    return {
      meter_token: story.meters[index % 4]?.token,
      customer_external_id: isBeta ? 'beta' : ID,
      quantity: 1 + ((index * 7919) % 101) / 8,
      timestamp: `${month}-${two(1 + (index % 27))}T${two(index % 24)}:${two((index * 7) % 60)}:00Z`,
      metadata: {
        user_id: index % 2 === 0 ? `shared ${index % 7}` : user,
        model: `m${index % 3}`,
        ...(!isBeta && { note: NOTE }),
      },
      ...(keyed !== undefined && { idempotency_key: `${isBeta ? 'beta' : keyed}-${index}` }),
    };
  });
}

async function readAll({ billing, meters }: Story): Promise<unknown> {
  const window = 'start_date=2025-01-01T07:13:00Z&end_date=2025-04-01T05:47:00Z';
  const read: unknown[] = [];
  for (const { id } of meters)
    for (const zone of ['UTC', 'Asia/Kolkata', 'America/St_Johns']) {
      read.push(await billing.get(`/meters/${id}/usage?${window}&timezone=${zone}`));
      read.push(await billing.get(`/meters/${id}/usage?${window}&timezone=${zone}&customer_external_id=beta`));
    }
  for (const { id } of meters.slice(0, 2))
    read.push(await billing.get(`/meters/${id}/usage?${window}&group_by_metadata=model`));
  return read;
}

async function readOwn({ billing, meters }: Story, externalId: string): Promise<unknown> {
  const window = 'start_date=2025-01-01T07:13:00Z&end_date=2025-04-01T05:47:00Z';
  const read: unknown[] = [];
  for (const { id } of meters)
    for (const more of ['', '&timezone=Asia/Kolkata', '&group_by=hour'])
      read.push(
        await billing.get(
          `/meters/${id}/usage?${window}&customer_external_id=${encodeURIComponent(externalId)}${more}`,
        ),
      );
  return read;
}

async function recomputeAll(billing: Invoicing): Promise<unknown[]> {
  const { rows } = await weir.pool.query<{ id: string }>(
    `SELECT id FROM invoices WHERE organization_id = $1 AND status <> 'DRAFT' ORDER BY invoice_number`,
    [billing.admin.id],
  );
  expect(rows.length).toBeGreaterThan(2);
  const all: unknown[] = [];
  for (const { id } of rows)
    for (const from of ['rollups', 'events']) {
      const { identical, stored } = await billing.post(`/invoices/${id}/recompute`, { from });
      expect(identical).toBe(true);
      all.push(stored);
    }
  return all;
}

async function equal(organizationId: string): Promise<boolean> {
  const { isEqual } = await reconcileHere(weir, database, { organizationId, invoices: true });
  return isEqual;
}

test('a customer is erased: nothing names it but its invoices, and counts and bills are as before', async () => {
  const story = await tell();
  const { billing, customer, subscription, track, apiKey, meters } = story;
  const other = await tellElsewhere();
  await track(usageOf(story, '2025-01', 400, KEY));
  await billing.moveTo('2025-02-01T00:10:00Z', subscription);
  const [draft] = await billing.drafts(subscription);
  await addLine(billing, draft?.id, REFERENCE);
  // Its description is in no invoice.
  const { id: line } = await addLine(billing, draft?.id, NOTE);
  expect((await billing.request('DELETE', `/invoices/${draft?.id}/lines/${line}`)).status).toBe(204);
  const [first] = await billing.finalizeAll(subscription);
  // Late for January, and then for what was billed of it.
  await track(usageOf(story, '2025-01', 90));
  await track(usageOf(story, '2025-02', 200));
  await billing.moveTo('2025-03-01T00:10:00Z', subscription);
  await billing.finalizeAll(subscription);
  await track(usageOf(story, '2025-02', 60));
  await track(usageOf(story, '2025-03', 60));
  // What is repeated is kept as it was answered.
  const patched = await weir.request('PATCH', `/api/v1/customers/${customer}`, {
    session: billing.admin.session,
    headers: { 'idempotency-key': KEY },
    body: { phone: RECORD.phone },
  });
  expect(patched.status).toBe(200);
  await billing.post(
    `/customers/${customer}/credits`,
    { amount: '5', currency: 'USD', note: NOTE, external_id: KEY },
    201,
  );
  expectProblem(await billing.request('POST', '/erasures', { customer_id: customer }), 409, 'customer_in_use');
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false, reason: NOTE });
  expectProblem(await billing.request('POST', '/erasures', { customer_external_id: ID }), 409, 'earlier_draft');
  await billing.finalizeAll(subscription);
  // Waits to be settled.
  await track(usageOf(story, '2025-02', 40));
  await keepUncounted(story);
  const paid = await billing.post(`/invoices/${first.id}/pay`, { amount: '1', reference: REFERENCE });
  const mistaken = `/invoices/${first.id}/payments/${paid.payments[0].id}`;
  expect((await billing.request('DELETE', mistaken, { note: REFERENCE })).status).toBe(204);
  await billing.post(`/invoices/${first.id}/pay`, { reference: REFERENCE });
  await correctThree(story, { token: meters[1]?.token ?? '', customer: ID, says: NOTE });
  const token = await weir.request('POST', '/api/v1/widget/token', { apiKey, body: { customer_external_id: ID } });
  expect(token.status).toBe(201);

  for (const text of [EMAIL, NOTE, REFERENCE])
    expect((await findInTables(weir, text)).filter((row) => row.startsWith('request_keys: '))).not.toEqual([]);

  const before = { all: await readAll(story), own: await readOwn(story, ID), invoices: await recomputeAll(billing) };
  expect(await equal(billing.admin.id)).toBe(true);
  const elsewhere = await dumpOf(weir, other.id);

  const asked = await billing.post('/erasures', { customer_id: customer }, 202);
  expect(asked).toMatchObject({
    status: 'RUNNING',
    customer_id: customer,
    external_id: expect.stringMatching(/^erased-[0-9a-f]{32}$/),
  });
  // At once.
  const nobody = Object.fromEntries(Object.keys(RECORD).map((field) => [field, null]));
  expect(await billing.get(`/customers/${customer}`)).toMatchObject({
    ...nobody,
    external_id: asked.external_id,
    metadata: {},
    erased_at: expect.stringMatching(/Z$/),
  });
  await refusedMeanwhile(story, asked.external_id);
  await performAllMoves(database);

  const done = await billing.get(`/erasures/${asked.id}`);
  expect(done).toMatchObject({ status: 'DONE', finished_at: expect.any(String) });
  const { rows } = await weir.pool.query('SELECT count(*)::int AS events FROM events WHERE customer_external_id = $1', [
    done.external_id,
  ]);
  expect(done.events).toBe(rows[0].events);
  expect(done.events).toBeGreaterThan(500);

  const own = (await findInTables(weir, ...NAMES)).filter((row) => !row.includes(other.id));
  expect(own.map((row) => row.split(':', 1)[0])).toEqual(own.map(() => 'invoices'));
  expect(own.length).toBeGreaterThan(2);
  // Copies of the record, as issued: of the external id and what was made of it.
  for (const row of own) {
    const { customer: copy, buyer, ...rest } = JSON.parse(row.slice('invoices: '.length));
    expect(copy).toMatchObject({ name: RECORD.name, email: EMAIL });
    expect(buyer).toMatchObject({ legal_name: RECORD.legal_name, tax_id: RECORD.tax_id });
    expect(NAMES.filter((name) => JSON.stringify(rest).includes(name))).toEqual([]);
  }
  expect(await findInRedis(weir, ...NAMES)).toEqual([]);

  expect(await equal(billing.admin.id)).toBe(true);
  await expectRollupsToEqualEvents(weir.pool);
  expect(await readAll(story)).toEqual(before.all);
  expect(await readOwn(story, asked.external_id)).toEqual(before.own);
  expect(await recomputeAll(billing)).toEqual(before.invoices);
  expect(await dumpOf(weir, other.id)).toEqual(elsewhere);

  // What came late is still billed, once.
  const settled = await billing.post(`/subscriptions/${subscription}/settle`, undefined, 201);
  expect(settled.invoice.lines.length).toBeGreaterThan(0);
  await recomputeAll(billing);
  expect(await equal(billing.admin.id)).toBe(true);
  // What is sent again is somebody without a record.
  const [again] = await track([{ meter_token: meters[0]?.token, customer_external_id: ID, quantity: 3 }]);
  expect(again?.status).toBe(201);
  expect((await billing.get(`/customers/${customer}`)).external_id).toBe(asked.external_id);
  expectProblem(await billing.request('PATCH', `/customers/${customer}`, { name: 'Ada' }), 409, 'customer_erased');
  expectProblem(
    await billing.request('POST', `/customers/${customer}/credits`, { amount: '1', currency: 'USD' }),
    409,
    'customer_erased',
  );

  // Retention is over.
  const copies = await billing.post(
    '/erasures',
    { customer_id: customer, invoice_copies_issued_before: '2100-01-01' },
    202,
  );
  await performAllMoves(database);
  expect(await billing.get(`/erasures/${copies.id}`)).toMatchObject({ status: 'DONE' });
  const left = (await findInTables(weir, EMAIL, NOTE, KEY, REFERENCE, 'Lovelace-King', 'ada-user', 'ada-sub')).filter(
    (row) => !row.includes(other.id),
  );
  expect(left).toEqual([]);
  await recomputeAll(billing);
  await billing.close();
}, 120_000);

/** Adds a line to a draft as the console does, which may send it again. */
async function addLine({ admin }: Invoicing, draft: string | undefined, description: string): Promise<{ id: string }> {
  const { status, body } = await weir.request('POST', `/api/v1/invoices/${draft}/lines`, {
    session: admin.session,
    headers: { 'idempotency-key': description },
    body: { description, amount: '1' },
  });
  expect(status).toBe(201);
  return body;
}

/** The same external id, in another organization. */
async function tellElsewhere(): Promise<Organization> {
  const other = await signUp(weir);
  const apiKey = await other.createKey();
  const { token } = await other.createMeter('UNIQUE_COUNT');
  const created = await other.ask('POST', '/customers', RECORD);
  expect(created.status).toBe(201);
  const event = {
    meter_token: token,
    customer_external_id: ID,
    quantity: 1,
    metadata: { user_id: 'ada-user 1', note: NOTE },
  };
  const events = Array.from({ length: 20 }, (_, index) => ({ ...event, timestamp: `2025-01-${10 + index}T00:00:00Z` }));
  const answer = await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, body: { events } });
  expect(answer.status).toBe(201);
  await weir.drained();
  return other;
}

/** A duplicate, a rejected event, and two that were replayed: one is recorded, and the other is a duplicate of it. */
async function keepUncounted({ billing, meters, track }: Story): Promise<void> {
  const sum = {
    meter_token: meters[0]?.token,
    customer_external_id: ID,
    quantity: 1,
    timestamp: '2025-01-05T00:00:00Z',
  };
  const keyed = { ...sum, idempotency_key: `${KEY}-twice`, metadata: { note: NOTE } };
  await track([keyed]);
  await weir.redis.unlink(await weir.claim(billing.admin.id, `${KEY}-twice`));
  await track([keyed]);
  const users = { ...sum, meter_token: meters[1]?.token };
  const rejectable = { ...users, idempotency_key: `${KEY}-rejected`, metadata: { note: NOTE } };
  const [, rejected] = await track([{ ...users, metadata: { note: NOTE } }, rejectable]);
  await weir.redis.unlink(await weir.claim(billing.admin.id, rejectable.idempotency_key));
  const [again] = await track([rejectable]);
  for (const each of [rejected, again]) {
    await billing.post(`/events/${each?.id}/replay`, { metadata: { user_id: 'ada-user 9', note: NOTE } }, 202);
    await weir.drained();
  }
  const { rows } = await weir.pool.query(
    `SELECT (SELECT count(*)::int FROM duplicate_events) AS duplicates, (SELECT count(*)::int FROM rejected_events) AS rejected`,
  );
  expect(rows).toEqual([{ duplicates: 2, rejected: 1 }]);
}

/** What would be half of it is not told. */
async function refusedMeanwhile(story: Story, pseudonym: string): Promise<void> {
  const { billing, customer, meters, subscription, apiKey } = story;
  const { rows } = await weir.pool.query('SELECT id FROM invoices WHERE subscription_id = $1 LIMIT 1', [subscription]);
  const { operations } = await readOpenapi(weir);
  const refused = async (code: string, method: string, path: string, body?: object) => {
    expectProblem(await billing.request(method, path, body), 409, code);
    const asked = `/api/v1${path.split('?')[0]}`;
    const isAsked = (template: string) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(asked);
    const documented = operations.filter((each) => each.method === method && isAsked(each.path));
    expect(documented.map(({ responses }) => responses['409']?.description).join(), path).toContain(code);
  };
  const moving = (method: string, path: string, body?: object) => refused('usage_moving', method, path, body);
  await moving('POST', `/invoices/${rows[0].id}/recompute`);
  await moving('POST', `/subscriptions/${subscription}/settle`);
  await moving('GET', `/meters/${meters[0]?.id}/usage?customer_external_id=${encodeURIComponent(ID)}`);
  await moving('GET', `/meters/${meters[0]?.id}/usage?customer_external_id=${pseudonym}`);
  await moving('GET', `/usage?meter_token=${meters[0]?.token}&customer_external_id=${encodeURIComponent(ID)}`);
  await moving('GET', `/customers/${customer}/usage`);
  const { plan_id } = await billing.get(`/subscriptions/${subscription}`);
  await refused('customer_erased', 'POST', '/subscriptions', { customer_id: customer, plan_id });
  await refused('customer_erased', 'POST', '/subscriptions/preview', { customer_id: customer, plan_id });
  await moving('POST', '/customers', { external_id: ID });
  const ofOwn = 'SELECT id FROM events WHERE organization_id = $1 AND customer_external_id = $2 LIMIT 1';
  const own = await weir.pool.query(ofOwn, [billing.admin.id, ID]);
  await moving('POST', `/events/${own.rows[0].id}/void`, { reason: NOTE });
  await moving('POST', '/erasures', { customer_external_id: ID });
  await moving('POST', '/usage-moves', { from_external_id: 'beta', to_external_id: ID });
  const token = await weir.request('POST', '/api/v1/widget/token', { apiKey, body: { customer_external_id: ID } });
  expectProblem(token, 409, 'usage_moving');
}

test('a meter that is grouped by what names the customer has to lose that key first', async () => {
  const admin = await signUp(weir);
  const apiKey = await admin.createKey();
  const { id, token } = await admin.createMeter('SUM');
  const patch = (metadata_keys: string[]) => admin.ask('PATCH', `/meters/${id}`, { metadata_keys });
  expect((await patch(['mail', 'model'])).status).toBe(200);
  const created = await admin.ask('POST', '/customers', RECORD);
  const event = { meter_token: token, customer_external_id: ID, quantity: 1, metadata: { mail: EMAIL, model: 'm1' } };
  expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, body: event })).status).toBe(201);
  await weir.drained();
  const erase = () => admin.ask('POST', '/erasures', { customer_id: created.body.id });
  expectProblem(await erase(), 409, 'grouped_by_customer');
  expect((await patch(['model'])).status).toBe(200);
  await untilGrouped(weir);
  expect((await erase()).status).toBe(202);
  await performAllMoves(database);
  expect(
    (await findInTables(weir, EMAIL, JSON.stringify(ID).slice(1, -1))).filter((row) => row.includes(admin.id)),
  ).toEqual([]);
  const { rows } = await weir.pool.query('SELECT metadata FROM events WHERE organization_id = $1', [admin.id]);
  expect(rows).toEqual([{ metadata: { model: 'm1' } }]);
  await expectRollupsToEqualEvents(weir.pool);
});

test('events that were accepted before the request are erased, also those that are recorded after it', async () => {
  const admin = await signUp(weir);
  const apiKey = await admin.createKey();
  const { token } = await admin.createMeter('UNIQUE_COUNT');
  const send = async (user: string) => {
    const event = {
      meter_token: token,
      customer_external_id: 'late',
      quantity: 1,
      timestamp: '2025-01-05T00:00:00Z',
      metadata: { user_id: user },
    };
    expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, body: event })).status).toBe(201);
    await weir.drained();
  };
  const ask = { session: admin.session, body: { customer_external_id: 'late' } };
  const { status, body } = await weir.request('POST', '/api/v1/erasures', ask);
  expect({ status, customer: body.customer_id }).toEqual({ status: 202, customer: null });
  let isRecorded = false;
  const look = () => performMoves(database, 60_000, () => Promise.resolve(isRecorded), throwIt);
  expect(await look()).toEqual([]);
  await send('one');
  expect(await look()).toEqual([]);
  await send('one');
  isRecorded = true;
  expect(await look()).toHaveLength(1);
  const { rows } = await weir.pool.query(
    'SELECT customer_external_id, event_count::int FROM customer_usage_days WHERE organization_id = $1',
    [admin.id],
  );
  expect(rows).toEqual([{ customer_external_id: body.external_id, event_count: 2 }]);
  // From now on it is a customer of before, without a record.
  await send('one');
  await expectRollupsToEqualEvents(weir.pool);
});
