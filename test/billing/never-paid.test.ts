// What nobody was asked for does not come back, whatever becomes of an invoice before its dues turn out to be smaller.

import { checkBilling } from '@weir/db/billing/checks/billing-checks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Invoicing;

beforeEach(async () => {
  billing = await startInvoicing(weir);
});
afterEach(() => billing.close());

const CANCEL_NOW = { cancel_at_period_end: false };

/** 31.00 for January in advance, which is finalized. It is the 10th: cancelled now, ten dates of 31 count. */
async function billedInAdvance(customer?: string) {
  const plan = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '31' }]);
  await billing.moveTo('2025-01-10T12:00:00Z');
  const customerId = customer ?? (await billing.customer()).id;
  const { id } = await billing.subscribe(plan.id, customerId, { start_date: '2025-01-01T00:00:00Z' });
  const [invoice] = await billing.finalizeAll(id);
  expect(invoice).toMatchObject({ total: '31.00' });
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

async function takeBack(invoice: string): Promise<void> {
  const { payments } = await billing.get(`/invoices/${invoice}`);
  expect((await billing.request('DELETE', `/invoices/${invoice}/payments/${payments[0].id}`)).status).toBe(204);
}

/** What the feed says of all events of a type. */
async function toldOf(type: string): Promise<Record<string, unknown>[]> {
  const { data } = await billing.get('/billing-events?limit=1000');
  return data
    .filter((each: { type: string }) => each.type === type)
    .map((each: { data: Record<string, unknown> }) => each.data);
}

const faultsOfBilling = () => checkBilling(billing.database, { organizationId: billing.admin.id }, () => {});

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

  test('is waived whole where it is voided after some came back; what goes beyond is billed, and comes back', async () => {
    const { subscription, customer, invoice, use } = await billedByVolume();
    await use(1);
    await billing.moveTo('2025-03-01T00:10:00Z', subscription);
    expect((await billing.finalizeAll(subscription))[0]).toMatchObject({ total: '-50.00' });
    expect(await billing.get(`/invoices/${invoice}`)).toMatchObject({ amount_due: '50.00' });
    await billing.post(`/invoices/${invoice}/void`);
    expect(await creditsOf(customer)).toMatchObject({ balance: { USD: '0.00' } });
    // 203 units are 100.49 (100.485), of which 100.00 were waived.
    await use(102);
    await billing.moveTo('2025-04-01T00:10:00Z', subscription);
    const [third] = await billing.finalizeAll(subscription);
    expect(third).toMatchObject({ total: '0.49' });
    expect(lateLine(third)).toMatchObject({ billed_before: '100.00', amount: '0.49', waived: null });
    await billing.post(`/invoices/${third.id}/pay`);
    const { rows } = await weir.pool.query('SELECT id FROM events ORDER BY id DESC LIMIT 1');
    await billing.post(`/events/${rows[0].id}/void`, { reason: 'Never was' }, 201);
    await billing.moveTo('2025-05-01T00:10:00Z', subscription);
    expect(lateLine((await billing.finalizeAll(subscription))[0])).toMatchObject({ amount: '-0.49', waived: '50.00' });
    // What came back of it are these 0.49: the 50.00 of before ended with the first one.
    await takeBack(third.id);
    expect(await billing.post(`/invoices/${third.id}/void`)).toMatchObject({ status: 'VOID' });
    await expectIdentical(subscription);
    expect(await faultsOfBilling()).toEqual([]);
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

describe('what an invoice below zero gives', () => {
  /** What became of the first invoice, of 31.00, when the subscription is cancelled and 21.00 come off. */
  const states: {
    state: string;
    credits?: string;
    part?: string;
    changes: string[];
    first: { status: string; [field: string]: string };
    balance: object;
  }[] = [
    {
      state: 'open',
      changes: [],
      first: { status: 'OPEN', credits_applied: '21.00', amount_due: '10.00' },
      balance: { USD: '0.00' },
    },
    {
      state: 'given up',
      changes: ['uncollectible'],
      first: { status: 'UNCOLLECTIBLE', credits_applied: '21.00', amount_due: '10.00' },
      balance: { USD: '0.00' },
    },
    { state: 'void', changes: ['void'], first: { status: 'VOID', amount_due: '0.00' }, balance: {} },
    {
      state: 'given up and void',
      changes: ['uncollectible', 'void'],
      first: { status: 'VOID', amount_due: '0.00' },
      balance: {},
    },
    {
      state: 'paid',
      changes: ['pay'],
      first: { status: 'PAID', credits_applied: '0.00', amount_paid: '31.00' },
      balance: { USD: '21.00' },
    },
    {
      state: 'paid in part',
      part: '15',
      changes: [],
      first: { status: 'PAID', credits_applied: '16.00', amount_paid: '15.00' },
      balance: { USD: '5.00' },
    },
    {
      state: 'paid in part and given up',
      part: '4.5',
      changes: ['uncollectible'],
      first: { status: 'UNCOLLECTIBLE', credits_applied: '21.00', amount_paid: '4.50', amount_due: '5.50' },
      balance: { USD: '0.00' },
    },
    {
      state: 'given up and paid',
      changes: ['uncollectible', 'pay'],
      first: { status: 'PAID', amount_paid: '31.00' },
      balance: { USD: '21.00' },
    },
    {
      state: 'paid by credits',
      credits: '31',
      changes: [],
      first: { status: 'PAID', credits_applied: '31.00' },
      balance: { USD: '21.00' },
    },
    {
      state: 'paid by credits in part',
      credits: '15',
      changes: [],
      first: { status: 'PAID', credits_applied: '31.00' },
      balance: { USD: '5.00' },
    },
    {
      state: 'paid by credits in part and void',
      credits: '15',
      changes: ['void'],
      first: { status: 'VOID', credits_applied: '15.00' },
      balance: { USD: '15.00' },
    },
  ];

  test.each(states)('where it is $state', async ({ credits, part, changes, first, balance }) => {
    const { id } = await billing.customer();
    if (credits !== undefined) {
      await billing.post(`/customers/${id}/credits`, { amount: credits, currency: 'USD' }, 201);
    }
    const { subscription, invoice } = await billedInAdvance(id);
    if (part !== undefined) await billing.post(`/invoices/${invoice}/pay`, { amount: part });
    for (const change of changes) await billing.post(`/invoices/${invoice}/${change}`);
    await billing.post(`/subscriptions/${subscription}/cancel`, CANCEL_NOW);
    const [final] = await billing.finalizeAll(subscription);
    expect(final).toMatchObject({ status: 'PAID', amount_due: '0.00', credits_applied: '0.00' });
    expect(await billing.get(`/invoices/${invoice}`)).toMatchObject(first);
    const isLowered = ['OPEN', 'UNCOLLECTIBLE'].includes(first.status);
    expect(await toldOf('invoice.credited')).toMatchObject(isLowered ? [{ id: invoice, ...first }] : []);
    expect(await creditsOf(id)).toMatchObject({ balance });
    await expectIdentical(subscription);
    expect(await faultsOfBilling()).toEqual([]);
  });

  test('goes to the oldest invoice first, of any subscription, and the rest is a grant', async () => {
    const one = await billedInAdvance();
    const other = await billedInAdvance(one.customer);
    await billing.post(`/invoices/${other.invoice}/pay`);
    const line = { description: 'Goodwill', amount: '-20' };
    await billing.post(`/subscriptions/${other.subscription}/cancel`, CANCEL_NOW);
    const [draft] = await billing.drafts(other.subscription);
    await billing.post(`/invoices/${draft?.id}/lines`, line, 201);
    await billing.finalizeAll(other.subscription);
    expect(await billing.get(`/invoices/${one.invoice}`)).toMatchObject({ status: 'PAID', credits_applied: '31.00' });
    expect(await creditsOf(one.customer)).toMatchObject({ balance: { USD: '10.00' } });
    expect(await faultsOfBilling()).toEqual([]);
  });

  test('goes to the older one of two invoices of one millisecond, also where that is given up', async () => {
    const one = await billedInAdvance();
    const other = await billedInAdvance(one.customer);
    const below = await billedInAdvance(one.customer);
    await billing.post(`/invoices/${below.invoice}/pay`);
    await weir.pool.query(
      `UPDATE invoices SET finalized_at = date_trunc('day', finalized_at)
         + CASE WHEN id = $2 THEN interval '1 microsecond' ELSE interval '0' END WHERE id IN ($1, $2)`,
      [one.invoice, other.invoice],
    );
    await billing.post(`/invoices/${one.invoice}/uncollectible`);
    await billing.post(`/subscriptions/${below.subscription}/cancel`, CANCEL_NOW);
    await billing.finalizeAll(below.subscription);
    expect(await billing.get(`/invoices/${one.invoice}`)).toMatchObject({ credits_applied: '21.00' });
    expect(await billing.get(`/invoices/${other.invoice}`)).toMatchObject({ credits_applied: '0.00' });
    expect(await faultsOfBilling()).toEqual([]);
  });

  test('comes back as a grant when what it lowered is voided, but for what nobody pays any more', async () => {
    const one = await billedInAdvance();
    const other = await billedInAdvance(one.customer);
    // 21.00 of the other one go to the first one, and the other one was paid.
    await billing.post(`/invoices/${other.invoice}/pay`);
    await billing.post(`/subscriptions/${other.subscription}/cancel`, CANCEL_NOW);
    await billing.finalizeAll(other.subscription);
    expect(await billing.get(`/invoices/${one.invoice}`)).toMatchObject({ amount_due: '10.00' });
    await billing.post(`/invoices/${one.invoice}/void`);
    expect(await creditsOf(one.customer)).toMatchObject({ balance: { USD: '21.00' } });
    // What this one gives lowers its own first invoice. When that is voided, nobody has paid it.
    const third = await billedInAdvance((await billing.customer()).id);
    await billing.post(`/subscriptions/${third.subscription}/cancel`, CANCEL_NOW);
    await billing.finalizeAll(third.subscription);
    await billing.post(`/invoices/${third.invoice}/void`);
    expect(await creditsOf(third.customer)).toMatchObject({ balance: { USD: '0.00' } });
    for (const { subscription } of [one, other, third]) await expectIdentical(subscription);
    expect(await faultsOfBilling()).toEqual([]);
  });
});

describe('an invoice that is voided after another one gave back what it billed', () => {
  /** 31.00 in advance, cancelled on the 10th: 21.00 come back. */
  async function cancelled(customer?: string, { isPaid = false } = {}) {
    const made = await billedInAdvance(customer);
    if (isPaid) await billing.post(`/invoices/${made.invoice}/pay`);
    await billing.post(`/subscriptions/${made.subscription}/cancel`, CANCEL_NOW);
    const [final] = await billing.finalizeAll(made.subscription);
    expect(final).toMatchObject({ total: '-21.00' });
    return made;
  }
  const endedOf = async () => (await toldOf('credit.voided')).map(({ amount }) => amount);

  test('ends the grant where its payment was taken back, and the feed says so', async () => {
    const { subscription, customer, invoice } = await cancelled(undefined, { isPaid: true });
    expect(await creditsOf(customer)).toMatchObject({ balance: { USD: '21.00' } });
    await takeBack(invoice);
    await billing.post(`/invoices/${invoice}/void`);
    expect(await creditsOf(customer)).toMatchObject({ balance: { USD: '0.00' } });
    expect(await endedOf()).toEqual(['21.00']);
    await expectIdentical(subscription);
    expect(await faultsOfBilling()).toEqual([]);
  });

  test('is void where somebody had ended the grant before', async () => {
    const { subscription, customer, invoice } = await cancelled(undefined, { isPaid: true });
    await takeBack(invoice);
    const { grants } = await creditsOf(customer);
    await billing.post(`/credits/${grants[0].id}/void`);
    expect(await billing.post(`/invoices/${invoice}/void`)).toMatchObject({ status: 'VOID' });
    expect(await creditsOf(customer)).toMatchObject({ balance: { USD: '0.00' } });
    expect(await endedOf()).toEqual(['21.00']);
    await expectIdentical(subscription);
    expect(await faultsOfBilling()).toEqual([]);
  });

  test('is refused where another invoice took it, and settled by the next one where it is billed again', async () => {
    const older = await billedInAdvance();
    const { subscription, customer, invoice } = await cancelled(older.customer);
    expect(await billing.get(`/invoices/${older.invoice}`)).toMatchObject({ credits_applied: '21.00' });
    const refused = await billing.request('POST', `/invoices/${invoice}/void`);
    expectProblem(refused, 409, 'invoice_given_back');
    expect(await billing.get(`/invoices/${invoice}`)).toMatchObject({ status: 'OPEN', amount_due: '31.00' });
    await billing.post(`/invoices/${invoice}/void`, { rebill: true });
    const { invoice: settled } = await billing.post(`/subscriptions/${subscription}/settle`, undefined, 201);
    expect(settled).toMatchObject({ total: '31.00', amount_due: '31.00' });
    expect(await creditsOf(customer)).toMatchObject({ balance: { USD: '0.00' } });
    await expectIdentical(subscription);
    expect(await faultsOfBilling()).toEqual([]);
  });

  test('is refused where it came off within an invoice above zero', async () => {
    const { subscription, invoice } = await billedInAdvance();
    const dearer = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '62' }]);
    await billing.post(`/subscriptions/${subscription}/change`, { plan_id: dearer.id, when: 'now' });
    const [changed] = await billing.finalizeAll(subscription);
    expect(Number(changed.total)).toBeGreaterThan(0);
    expectProblem(await billing.request('POST', `/invoices/${invoice}/void`), 409, 'invoice_given_back');
    await expectIdentical(subscription);
    expect(await faultsOfBilling()).toEqual([]);
  });
});

describe('a void invoice that is to be billed again', () => {
  test('is, by the next invoice, with what came late, and once', async () => {
    const meter = await billing.meter('SUM');
    const plan = await billing.plan([
      { type: 'FIXED', display_name: 'Base', unit_price: '31' },
      { type: 'USAGE', display_name: 'Calls', meter_id: meter.id, unit_price: '0.1' },
    ]);
    const customer = await billing.customer();
    await billing.moveTo('2025-01-01T00:00:00Z');
    const { id } = await billing.subscribe(plan.id, customer.id, { start_date: '2025-01-01T00:00:00Z' });
    const use = (quantity: number) =>
      billing.track([{ meter, customer: customer.external_id, quantity, at: '2025-01-05T00:00:00Z' }]);
    await use(100);
    await billing.moveTo('2025-02-01T00:10:00Z', id);
    const [, second] = await billing.finalizeAll(id);
    expect(second).toMatchObject({ total: '41.00' });
    await use(1);
    const note = 'Wrong address';
    expect(await billing.post(`/invoices/${second.id}/void`, { note, rebill: true })).toMatchObject({
      status: 'VOID',
      note,
    });
    await use(1);
    await billing.moveTo('2025-03-01T00:10:00Z', id);
    const [third] = await billing.finalizeAll(id);
    const lines = third.lines.map(({ kind, cycle, billed_before, amount }: Record<string, unknown>) => [
      kind,
      cycle,
      billed_before,
      amount,
    ]);
    expect(lines).toEqual([
      ['USAGE', 1, '0.00', '0.00'],
      ['FIXED', 1, '0.00', '31.00'],
      ['FIXED', 2, '0.00', '31.00'],
      ['USAGE', 0, '0.00', '10.20'],
    ]);
    // It comes again, and then, voided without it, is waived: only what comes beyond it is billed.
    await use(1);
    await billing.post(`/invoices/${third.id}/void`, { rebill: true });
    await billing.post(`/subscriptions/${id}/cancel`, CANCEL_NOW);
    const [last] = await billing.finalizeAll(id);
    // The second month in full, one date of the third, and 103 units.
    expect(last).toMatchObject({ total: '42.30' });
    await billing.post(`/invoices/${last.id}/void`);
    await use(1);
    expect(await billing.request('POST', `/subscriptions/${id}/settle`)).toMatchObject({
      status: 201,
      body: { invoice: { total: '0.10' } },
    });
    await expectIdentical(id);
    expect(await faultsOfBilling()).toEqual([]);
  });

  test('is billed by an invoice of its own after the end', async () => {
    const { subscription, invoice } = await billedInAdvance();
    await billing.post(`/subscriptions/${subscription}/cancel`, CANCEL_NOW);
    await billing.finalizeAll(subscription);
    expect(await billing.get(`/invoices/${invoice}`)).toMatchObject({ amount_due: '10.00' });
    // What lowered it, 21.00, is a grant now, and what comes to 10.00 is billed as 31.00 against it.
    await billing.post(`/invoices/${invoice}/void`, { rebill: true });
    const { invoice: settled } = await billing.post(`/subscriptions/${subscription}/settle`, undefined, 201);
    expect(settled).toMatchObject({
      kind: 'ADJUSTMENT',
      total: '31.00',
      credits_applied: '21.00',
      amount_due: '10.00',
    });
    await expectIdentical(subscription);
    expect(await faultsOfBilling()).toEqual([]);
  });
});
