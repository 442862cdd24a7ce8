// What nobody was asked for does not come back, whatever becomes of an invoice before its dues turn out to be smaller.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startWeir, type Weir } from '../support/harness.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';

let weir: Weir;
let billing: Invoicing;

beforeAll(async () => {
  weir = await startWeir();
});
afterAll(() => weir.close());
beforeEach(async () => {
  billing = await startInvoicing(weir);
});
afterEach(() => billing.close());

const CANCEL_NOW = { cancel_at_period_end: false };

/** 31.00 for January in advance, which is finalized. It is the 10th: cancelled now, ten dates of 31 count. */
async function billedInAdvance(customer?: string) {
  const plan = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '31' }]);
  await billing.moveTo('2025-01-01T00:00:00Z');
  const customerId = customer ?? (await billing.customer()).id;
  const { id } = await billing.subscribe(plan.id, customerId, { start_date: '2025-01-01T00:00:00Z' });
  await billing.moveTo('2025-01-10T12:00:00Z', id);
  const [invoice] = await billing.finalizeAll(id);
  expect(invoice).toMatchObject({ status: 'OPEN', total: '31.00' });
  return { subscription: id, customer: customerId, invoice: invoice.id };
}

const creditsOf = (customer: string) => billing.get(`/customers/${customer}/credits`);

async function expectIdentical(subscription: string): Promise<void> {
  const { data } = await billing.get(`/subscriptions/${subscription}/invoices?page_size=100`);
  for (const { id, status } of data) {
    if (status === 'DRAFT') continue;
    for (const from of ['rollups', 'events'])
      expect(await billing.post(`/invoices/${id}/recompute`, { from })).toMatchObject({ identical: true });
  }
}

describe('a charge in advance whose subscription is cancelled', () => {
  test('gives nothing back where its invoice is void, and the line says what is waived', async () => {
    const { subscription, customer, invoice } = await billedInAdvance();
    await billing.post(`/invoices/${invoice}/void`);
    await billing.post(`/subscriptions/${subscription}/cancel`, CANCEL_NOW);
    const [final] = await billing.finalizeAll(subscription);
    expect(final).toMatchObject({ status: 'PAID', subtotal: '0.00', total: '0.00' });
    const [line] = final.lines;
    expect(line).toMatchObject({ exact_amount: '10', billed_before: '31.00', amount: '0.00', waived: '21.00' });
    expect(await creditsOf(customer)).toEqual({ balance: {}, grants: [] });
    await expectIdentical(subscription);
  });

  test('gives back what was paid', async () => {
    const { subscription, customer, invoice } = await billedInAdvance();
    await billing.post(`/invoices/${invoice}/pay`);
    await billing.post(`/subscriptions/${subscription}/cancel`, CANCEL_NOW);
    const [final] = await billing.finalizeAll(subscription);
    expect(final).toMatchObject({ status: 'PAID', total: '-21.00' });
    expect(final.lines[0]).toMatchObject({ amount: '-21.00', waived: null });
    expect(await creditsOf(customer)).toMatchObject({ balance: { USD: '21.00' } });
    await expectIdentical(subscription);
  });
});

describe('a volume price that falls when a late unit comes', () => {
  /** 100 units at 1.00 in January are 100.00; from 101 units on each costs 0.495, and 101 are 50.00 (49.995). */
  async function billedByVolume() {
    const meter: PricedMeter = await billing.meter('SUM');
    const tiers = [
      { up_to: 100, unit_price: '1' },
      { up_to: null, unit_price: '0.495' },
    ];
    const usage = { type: 'USAGE', display_name: 'Calls', meter_id: meter.id, model: 'volume', tiers };
    const plan = await billing.plan([usage]);
    const customer = await billing.customer();
    await billing.moveTo('2025-01-01T00:00:00Z');
    const { id } = await billing.subscribe(plan.id, customer.id, { start_date: '2025-01-01T00:00:00Z' });
    const use = (quantity: number) =>
      billing.track([{ meter, customer: customer.external_id, quantity, at: '2025-01-05T00:00:00Z' }]);
    await use(100);
    await billing.moveTo('2025-02-01T00:10:00Z', id);
    const [invoice] = await billing.finalizeAll(id);
    expect(invoice).toMatchObject({ status: 'OPEN', total: '100.00' });
    return { subscription: id, customer: customer.id, invoice: invoice.id, use };
  }
  const lateLine = (invoice: { lines: { kind: string }[] }) => invoice.lines.find(({ kind }) => kind === 'LATE_USAGE');

  test('gives nothing back of a void invoice, and bills only what goes beyond it', async () => {
    const { subscription, customer, invoice, use } = await billedByVolume();
    await billing.post(`/invoices/${invoice}/void`);
    await use(1);
    await billing.moveTo('2025-03-01T00:10:00Z', subscription);
    const [second] = await billing.finalizeAll(subscription);
    expect(second).toMatchObject({ total: '0.00' });
    expect(lateLine(second)).toMatchObject({ billed_before: '100.00', amount: '0.00', waived: '50.00' });
    // 203 units are 100.49 (100.485), of which 100.00 were waived.
    await use(102);
    await billing.moveTo('2025-04-01T00:10:00Z', subscription);
    const [third] = await billing.finalizeAll(subscription);
    expect(third).toMatchObject({ total: '0.49' });
    expect(lateLine(third)).toMatchObject({ billed_before: '100.00', amount: '0.49', waived: null });
    expect(await creditsOf(customer)).toEqual({ balance: {}, grants: [] });
    await expectIdentical(subscription);
  });

  test('gives back what was paid, once', async () => {
    const { subscription, customer, invoice, use } = await billedByVolume();
    await billing.post(`/invoices/${invoice}/pay`);
    await use(1);
    await billing.moveTo('2025-03-01T00:10:00Z', subscription);
    expect((await billing.finalizeAll(subscription))[0]).toMatchObject({ status: 'PAID', total: '-50.00' });
    expect(await creditsOf(customer)).toMatchObject({ balance: { USD: '50.00' } });
    await expectIdentical(subscription);
  });
});
