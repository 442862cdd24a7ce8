// Seller and buyer of an invoice as fields: copied when it is finalized, and then as they were, whatever changes.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Billed;

beforeEach(async () => {
  billing = await startBilled(weir);
});
afterEach(() => billing.close());

const SELLER = {
  legal_name: 'Weir Works GmbH',
  tax_id: 'DE123456789',
  address_line1: 'Hauptstraße 1',
  address_line2: null,
  city: 'Berlin',
  state: null,
  postal_code: '10115',
  country: 'DE',
};

const set = (seller: unknown) => billing.request('PATCH', '/billing/settings', { seller });
const change = (fields: object) => billing.request('PATCH', `/customers/${billing.ownCustomer.id}`, fields);

describe('the seller of the settings', () => {
  test('is none at first, takes what is sent and null for the rest, and is cleared by null', async () => {
    expect((await billing.get('/billing/settings')).seller).toBeNull();
    expect((await set(SELLER)).body.seller).toEqual(SELLER);
    expect((await billing.get('/billing/settings')).seller).toEqual(SELLER);
    const { legal_name } = SELLER;
    const nothing = Object.fromEntries(Object.keys(SELLER).map((field) => [field, null]));
    expect((await set({ legal_name })).body.seller).toEqual({ ...nothing, legal_name });
    expect((await set(null)).body.seller).toBeNull();
  });

  test.each<[path: string, seller: unknown]>([
    ['seller.legal_name', {}],
    ['seller.legal_name', { legal_name: ' ' }],
    ['seller.country', { ...SELLER, country: 'Germany' }],
    ['seller.country', { ...SELLER, country: 'de' }],
    ['seller.country', { ...SELLER, country: 'XX' }],
    ['seller.tax_id', { ...SELLER, tax_id: '' }],
    ['seller.vat', { ...SELLER, vat: 'DE1' }],
    ['seller', 'Weir Works'],
  ])('%s is refused in %j', async (path, seller) => {
    const answer = await set(seller);
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe(path);
    expect((await billing.get('/billing/settings')).seller).toBeNull();
  });
});

describe('an invoice', () => {
  test('has both as they were when it was finalized, field by field, and a draft has none', async () => {
    await set(SELLER);
    await change({
      legal_name: 'Acme Incorporated',
      tax_id: 'NO 987 654 321',
      billing_address_line1: 'Karl Johans gate 1',
      billing_address_line2: 'Floor 2',
      billing_address_postal_code: '0154',
      billing_address_country: 'Norway',
      billing_country_code: 'NO',
    });
    const { id } = await billing.draft();
    expect(await billing.get(`/invoices/${id}`)).toMatchObject({ seller: null, buyer: null });
    const buyer = {
      legal_name: 'Acme Incorporated',
      tax_id: 'NO 987 654 321',
      address_line1: 'Karl Johans gate 1',
      address_line2: 'Floor 2',
      city: 'Oslo',
      state: null,
      postal_code: '0154',
      country: 'NO',
    };
    const finalized = await billing.post(`/invoices/${id}/finalize`);
    expect(finalized).toMatchObject({ seller: SELLER, buyer });
    await set({ legal_name: 'Another' });
    await change({ legal_name: 'Another', billing_country_code: 'SE' });
    expect(await billing.get(`/invoices/${id}`)).toEqual(finalized);
    const [listed] = (await billing.get('/invoices')).data.filter((each: { id: string }) => each.id === id);
    expect(listed).toMatchObject({ seller: SELLER, buyer });
  });

  test('that was issued before there were fields says nothing of them', async () => {
    const { id } = await billing.open();
    await weir.pool.query('UPDATE invoices SET seller = NULL, buyer = NULL WHERE id = $1', [id]);
    expect(await billing.get(`/invoices/${id}`)).toMatchObject({ seller: null, buyer: null });
  });

  test.each([
    ['no', 'NO'],
    ['SE', 'SE'],
    ['Norway', null],
    [null, null],
  ])('takes %j as the country of the address for %j, where no code was given', async (country, code) => {
    await change({ billing_address_country: country });
    const { id } = await billing.draft();
    expect(await billing.post(`/invoices/${id}/finalize`)).toMatchObject({
      seller: null,
      buyer: { legal_name: 'Acme', city: 'Oslo', country: code },
    });
  });
});

test.each(['Norway', 'no', 'XX'])(
  '%j is no billing_country_code, and as free text what it was',
  async (billing_country_code) => {
    const answer = await change({ billing_country_code });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe('billing_country_code');
    expect((await change({ billing_address_country: billing_country_code })).status).toBe(200);
  },
);
