// Customer records.

import { beforeAll, describe, expect, test } from 'vitest';
import { signUp, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let session: string;
let send: Organization['ask'];

beforeAll(async () => {
  ({ session, ask: send } = await signUp(weir));
});

const full = {
  external_id: 'acme-1',
  name: 'ACME',
  email: 'Billing@acme.example',
  phone: '+49 30 901820',
  legal_name: 'ACME GmbH',
  tax_id: 'DE123456789',
  billing_address_line1: 'Unter den Linden 1',
  billing_address_line2: 'Aufgang B',
  billing_address_city: 'Berlin',
  billing_address_state: 'Berlin',
  billing_address_country: 'Deutschland',
  billing_country_code: 'DE',
  billing_address_postal_code: '10117',
  metadata: { tier: 'gold', seats: 5, nested: { deep: [1, null, true] } },
  time_zone: 'Europe/Berlin',
};

describe('creating a customer', () => {
  test('with every field answers every field, and reading it answers the same', async () => {
    const { status, body } = await send('POST', '/customers', full);
    expect(status).toBe(201);
    const made = { id: expect.any(String), created_at: expect.stringMatching(/Z$/), erased_at: null };
    expect(body).toEqual({ ...full, ...made });
    expect((await send('GET', `/customers/${body.id}`)).body).toEqual(body);
  });

  test('with nothing takes the id as the external_id, and leaves the rest empty', async () => {
    const { status, body } = await send('POST', '/customers', {});
    expect(status).toBe(201);
    const empty = Object.fromEntries(Object.keys(full).map((field) => [field, null]));
    const { id, created_at } = body;
    expect(body).toEqual({ ...empty, id, external_id: id, metadata: {}, created_at, erased_at: null });
  });

  test('takes an external_id once in an organization, and says who has it', async () => {
    const body = { external_id: 'taken' };
    const { body: first } = await send('POST', '/customers', body);
    const again = await send('POST', '/customers', body);
    expect(again).toMatchObject({ status: 409, body: { code: 'external_id_taken', id: first.id } });
    const { session } = await signUp(weir);
    expect((await weir.request('POST', '/api/v1/customers', { session, body })).status).toBe(201);
  });

  test.each([
    ['external_id', ''],
    ['external_id', 'x'.repeat(256)],
    ['external_id', null],
    ['name', ' '],
    ['email', 'nobody'],
    ['email', 'a b@example.com'],
    ['phone', 5],
    ['billing_address_city', ''],
    ['legal_name', ''],
    ['tax_id', 'x'.repeat(65)],
    ['billing_country_code', 'Deutschland'],
    ['metadata', null],
    ['metadata', [1]],
    ['metadata', { text: 'a\0b' }],
    ['metadata', { text: 'x'.repeat(8192) }],
    ['metadata', { a: { b: { c: { d: { e: {} } } } } }],
    ['metadata', Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`key-${n}`, n]))],
    ['time_zone', 'Mars/Olympus'],
    ['time_zone', '+01:00'],
    ['time_zone', ''],
    ['time_zone', 1],
    ['id', '01890000-0000-7000-8000-000000000000'],
    ['externalId', 'acme'],
  ])('with %s %j is refused', async (field, value) => {
    const { status, body } = await send('POST', '/customers', { [field]: value });
    expect([status, body.errors[0].path]).toEqual([422, field]);
  });
});

test('a customer takes no number in metadata that would come back as another one', async () => {
  const { body: made } = await send('POST', '/customers', {});
  const put = (raw: string) => weir.request('PATCH', `/api/v1/customers/${made.id}`, { session, raw });
  for (const number of ['12345678901234567890', '-0.12345678901234567890']) {
    for (const value of [number, `{"deep":[${number}]}`]) {
      const { status, body } = await put(`{"metadata":{"name":"acme", "crm_id" : ${value}}}`);
      expect([value, status, body.errors[0].path]).toEqual([value, 422, 'metadata.crm_id']);
    }
  }
  for (const [number, value] of [
    ['9007199254740992', 9007199254740992],
    ['0.30000000000000004', 0.30000000000000004],
    ['1.50e3', 1500],
    ['1e300', 1e300],
    ['"12345678901234567890"', '12345678901234567890'],
  ]) {
    const { status, body } = await put(`{"metadata":{"crm_id":${number}}}`);
    expect([number, status, body.metadata]).toEqual([number, 200, { crm_id: value }]);
  }
});

describe('changing a customer', () => {
  test('changes what is sent and keeps the rest; null clears a field', async () => {
    const { body: before } = await send('POST', '/customers', { ...full, external_id: 'changing' });
    const changes = {
      external_id: 'changed',
      name: null,
      email: 'new@acme.example',
      metadata: { tier: 'silver' },
      time_zone: 'Asia/Tokyo',
    };
    const { status, body } = await send('PATCH', `/customers/${before.id}`, changes);
    expect([status, body]).toEqual([200, { ...before, ...changes }]);
    expect((await send('GET', `/customers/${before.id}`)).body).toEqual(body);
  });

  test('cannot take the external_id of another one, nor a value that is not valid', async () => {
    const { body: one } = await send('POST', '/customers', {});
    const { body: other } = await send('POST', '/customers', {});
    const taken = await send('PATCH', `/customers/${one.id}`, { external_id: other.external_id });
    expect(taken).toMatchObject({ status: 409, body: { code: 'external_id_taken', id: other.id } });
    for (const change of [
      { external_id: null },
      { email: 'x' },
      { metadata: null },
      { id: other.id },
      { metadata: { x: 'x'.repeat(8192) } },
    ]) {
      expect((await send('PATCH', `/customers/${one.id}`, change)).status).toBe(422);
    }
    expect((await send('GET', `/customers/${one.id}`)).body).toEqual(one);
  });
});

test('a customer that is deleted is gone, and its external_id is free', async () => {
  const { body } = await send('POST', '/customers', { external_id: 'leaving' });
  expect((await send('DELETE', `/customers/${body.id}`)).status).toBe(204);
  for (const method of ['GET', 'DELETE']) expect((await send(method, `/customers/${body.id}`)).status).toBe(404);
  expect((await send('PATCH', `/customers/${body.id}`, { name: 'Back' })).status).toBe(404);
  expect((await send('POST', '/customers', { external_id: 'leaving' })).status).toBe(201);
});

describe('listing customers', () => {
  test('comes in pages, newest first, and finds a part of the external_id, name or email in any case', async () => {
    const { session } = await signUp(weir);
    const customers = [
      { external_id: 'north_1', name: 'Ada 100%' },
      { external_id: 'northX1', name: 'Grace', email: 'grace@navy.example' },
      { external_id: 'south', name: 'Back\\slash' },
    ];
    for (const body of customers) await weir.request('POST', '/api/v1/customers', { session, body });
    const list = async (query: string) => (await weir.request('GET', `/api/v1/customers?${query}`, { session })).body;
    const found = async (search: string) =>
      (await list(`search=${encodeURIComponent(search)}`)).data.map(
        ({ external_id }: { external_id: string }) => external_id,
      );
    expect(await found('')).toEqual(['south', 'northX1', 'north_1']);
    expect(await found('NORTH')).toEqual(['northX1', 'north_1']);
    expect(await found('navy')).toEqual(['northX1']);
    expect(await found('ada')).toEqual(['north_1']);
    expect(await found('nobody')).toEqual([]);
    // What LIKE would take for wildcards is searched for as it stands.
    expect(await found('north_1')).toEqual(['north_1']);
    expect(await found('%')).toEqual(['north_1']);
    expect(await found('\\')).toEqual(['south']);
    const page = await list('page=2&page_size=2');
    expect(page.data.map(({ external_id }: { external_id: string }) => external_id)).toEqual(['north_1']);
    expect(page.meta).toEqual({ page: 2, page_size: 2, total: 3, total_pages: 2, next_cursor: null });
    expect((await list('search=north&page_size=1')).meta).toMatchObject({ total: 2, total_pages: 2 });
  });

  test.each(['search=%00', `search=${'x'.repeat(256)}`, 'search=a&search=b', 'page_size=101', 'q=a'])(
    '?%s is refused',
    async (query) => {
      expect((await send('GET', `/customers?${query}`)).status).toBe(422);
    },
  );
});
