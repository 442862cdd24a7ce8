// What was voided to be billed again is on the next invoice of its subscription, or on one of its own, for whoever does not wait.

import { settleSubscription } from '@weir/db/billing/run/settlements';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { expectSound } from '../support/expect-sound.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Invoicing;
/** Of the test, which has one subscription. */
let subscription: string;

beforeEach(async () => {
  billing = await startInvoicing(weir);
});
afterEach(() => billing.close());

const settle = () => billing.request('POST', `/subscriptions/${subscription}/settle`);

/** 1,200.00 a year in advance and 1.00 for each unit, from 1 January on: it is the 5th, and the invoice is OPEN. */
async function yearly() {
  const meter = await billing.meter();
  const plan = await billing.plan(
    [
      { type: 'FIXED', display_name: 'Base', unit_price: '1200' },
      { type: 'USAGE', display_name: 'Calls', meter_id: meter.id, unit_price: '1' },
    ],
    { billing_interval: 'year' },
  );
  const customer = await billing.customer();
  await billing.moveTo('2025-01-05T12:00:00Z');
  ({ id: subscription } = await billing.subscribe(plan.id, customer.id, { start_date: '2025-01-01' }));
  const use = (quantity: number, at: string) =>
    billing.track([{ meter, customer: customer.external_id, quantity, at }]);
  const [invoice] = await billing.finalizeAll(subscription);
  expect(invoice).toMatchObject({ status: 'OPEN', total: '1200.00' });
  return { invoice: invoice.id, use };
}

test('of a subscription that goes on it is billed at once where somebody settles, and in no later invoice', async () => {
  const { invoice, use } = await yearly();
  await use(7, '2025-01-03T00:00:00Z');
  expectProblem(await settle(), 409, 'subscription_not_ended');
  await billing.post(`/invoices/${invoice}/void`, { rebill: true });
  const { status, body } = await settle();
  expect([status, body.invoice]).toMatchObject([
    201,
    {
      kind: 'ADJUSTMENT',
      status: 'OPEN',
      cycle: null,
      period_start: '2025-01-01T00:00:00.000Z',
      period_end: '2026-01-01T00:00:00.000Z',
      total: '1200.00',
      lines: [{ kind: 'FIXED', cycle: 0, billed_before: '0.00', amount: '1200.00' }],
    },
  ]);
  expectProblem(await settle(), 409, 'subscription_not_ended');
  // What was recorded before and after it is in its period, and late for nothing.
  await use(5, '2025-01-04T00:00:00Z');
  await billing.moveTo('2026-01-01T00:10:00Z', subscription);
  const [next] = await billing.finalizeAll(subscription);
  expect(next.lines).toMatchObject([
    { kind: 'USAGE', quantity: '12', amount: '12.00' },
    { kind: 'FIXED', cycle: 1, amount: '1200.00' },
  ]);
  // Usage of a year that is billed again takes what came late as well.
  await use(3, '2025-02-01T00:00:00Z');
  await billing.post(`/invoices/${next.id}/void`, { rebill: true });
  expect((await settle()).body.invoice.lines).toMatchObject([
    { kind: 'USAGE', cycle: 0, quantity: '15', amount: '15.00' },
    { kind: 'FIXED', cycle: 1, amount: '1200.00' },
  ]);
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
  expect((await billing.finalizeAll(subscription))[0]).toMatchObject({ total: '-1196.71' });
  await expectSound(billing, subscription);
});

test('a draft takes it, and what comes to nothing waits for the next invoice', async () => {
  const { invoice, use } = await yearly();
  await billing.moveTo('2026-01-01T00:10:00Z', subscription);
  const [draft] = await billing.drafts(subscription);
  await billing.post(`/invoices/${invoice}/void`, { rebill: true });
  expectProblem(await settle(), 409, 'earlier_draft');
  expect(await billing.get(`/invoices/${draft?.id}`)).toMatchObject({ total: '2400.00' });
  await billing.post(`/invoices/${draft?.id}/lines`, { description: 'A gift', amount: '-2399.99' }, 201);
  const [paidByGift] = await billing.finalizeAll(subscription);
  await billing.post(`/invoices/${paidByGift.id}/void`);
  await use(1, '2026-01-01T00:05:00Z');
  expectProblem(await settle(), 409, 'subscription_not_ended');
  await expectSound(billing, subscription);
});

test('beside whoever ends the subscription it is billed once', async () => {
  const { invoice } = await yearly();
  await billing.post(`/invoices/${invoice}/void`, { rebill: true });
  const [settled] = await Promise.all([
    settle(),
    settle(),
    billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false }),
  ]);
  expect([201, 409]).toContain(settled?.status);
  await billing.finalizeAll(subscription);
  const { data } = await billing.get(`/subscriptions/${subscription}/invoices?page_size=100`);
  const live = data.filter(({ status }: { status: string }) => status !== 'VOID');
  // Five days of the year.
  expect(live.reduce((sum: number, { total }: { total: string }) => sum + Math.round(Number(total) * 100), 0)).toBe(
    1644,
  );
  await expectSound(billing, subscription);
});

test('a void invoice says whether it is billed again or was waived, and so does who refuses its payment', async () => {
  const { invoice } = await yearly();
  expect(await billing.get(`/invoices/${invoice}`)).toMatchObject({ rebilled: false });
  const voided = await billing.post(`/invoices/${invoice}/void`, { rebill: true });
  expect(voided).toMatchObject({ status: 'VOID', rebilled: true });
  const { body } = await settle();
  const waived = await billing.post(`/invoices/${body.invoice.id}/void`);
  expect(waived).toMatchObject({ status: 'VOID', rebilled: false });
  const { data } = await billing.get(`/subscriptions/${subscription}/invoices`);
  const told = (each: { id: string; rebilled: boolean }) => [each.id, each.rebilled];
  expect(new Map(data.map(told))).toEqual(new Map([voided, waived].map((each) => [each.id, each.rebilled])));
  const feed = (await billing.get('/billing-events?limit=1000')).data;
  const ended = feed.filter(({ type }: { type: string }) => type === 'invoice.voided');
  expect(ended.map((each: { data: { id: string; rebilled: boolean } }) => told(each.data))).toEqual([
    [invoice, true],
    [body.invoice.id, false],
  ]);
  const refusals = await Promise.all([voided, waived].map(({ id }) => billing.request('POST', `/invoices/${id}/pay`)));
  for (const refused of refusals) expectProblem(refused, 409, 'invoice_not_open');
  expect(refusals.map((refused) => refused.body.detail)).toEqual([
    expect.stringContaining('its charges are billed again'),
    'The invoice is void: it was waived.',
  ]);
  await expectSound(billing, subscription);
});

test('what an invoice only took away, beside a line by hand, comes with the next one however it is voided', async () => {
  const { invoice, use } = await yearly();
  await billing.post(`/invoices/${invoice}/pay`);
  await billing.moveTo('2026-01-01T00:10:00Z', subscription);
  await use(1, '2025-05-01T00:00:00Z');
  const [next] = await billing.finalizeAll(subscription);
  await billing.post(`/invoices/${next.id}/pay`);
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
  const [draft] = await billing.drafts(subscription);
  await billing.post(`/invoices/${draft?.id}/lines`, { description: 'A fine', amount: '2000' }, 201);
  const [last] = await billing.finalizeAll(subscription);
  expect(last.lines).toMatchObject([{ amount: '0.00' }, { amount: '-1196.71' }, { kind: 'ADJUSTMENT' }]);
  expect(await billing.post(`/invoices/${last.id}/void`)).toMatchObject({ rebilled: false });
  expect((await settle()).body.invoice).toMatchObject({ total: '-1196.71' });
  await expectSound(billing, subscription);
});

test('what is only added by hand to what all charges give back is waived, however its invoice is voided', async () => {
  const { invoice, use } = await yearly();
  await billing.post(`/invoices/${invoice}/pay`);
  await use(7, '2025-03-01T00:00:00Z');
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: true });
  await billing.moveTo('2026-01-01T00:10:00Z', subscription);
  const [last] = await billing.finalizeAll(subscription);
  await billing.post(`/invoices/${last.id}/pay`);
  await billing.request('PATCH', '/billing/settings', { finalize: 'manual' });
  const { data } = await billing.get('/events');
  await billing.post(`/events/${data[0].id}/void`, { reason: 'a test' }, 201);
  for (const rebill of [false, true]) {
    await settleSubscription(billing.database, billing.admin.id, subscription, { actor: 'weir' });
    const [draft] = await billing.drafts(subscription);
    await billing.post(`/invoices/${draft?.id}/lines`, { description: 'A fine', amount: '20' }, 201);
    const [fined] = await billing.finalizeAll(subscription);
    expect(fined).toMatchObject({
      status: 'OPEN',
      total: '13.00',
      lines: [{ amount: '-7.00' }, { kind: 'ADJUSTMENT' }],
    });
    expect(await billing.post(`/invoices/${fined.id}/void`, { rebill })).toMatchObject({ rebilled: false });
  }
  expect((await settle()).body.invoice).toMatchObject({ total: '-7.00' });
  await expectSound(billing, subscription);
});

test('of a line that bills a due again all events came in since: those of the void one count no more', async () => {
  const { invoice, use } = await yearly();
  await billing.post(`/invoices/${invoice}/pay`);
  await use(5, '2025-02-01T00:00:00Z');
  await billing.moveTo('2026-01-01T00:10:00Z', subscription);
  const [first] = await billing.finalizeAll(subscription);
  await use(2, '2025-03-01T00:00:00Z');
  await billing.post(`/invoices/${first.id}/void`, { rebill: true });
  const { body } = await settle();
  await use(1, '2025-04-01T00:00:00Z');
  await billing.moveTo('2027-01-01T00:10:00Z', subscription);
  const [third] = await billing.finalizeAll(subscription);
  const changesOf = async (id: string, lines: { id: string; cycle: number; kind: string }[]) => {
    const line = lines.find(({ cycle, kind }) => cycle === 0 && kind !== 'FIXED');
    const { data } = await billing.get(`/invoices/${id}/lines/${line?.id}/events?changes=true`);
    return data.map(({ quantity }: { quantity: string }) => quantity);
  };
  expect(await changesOf(body.invoice.id, body.invoice.lines)).toEqual(['5', '2']);
  expect(await changesOf(third.id, third.lines)).toEqual(['1']);
});
