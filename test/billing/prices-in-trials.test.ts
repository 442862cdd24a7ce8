// In a trial nothing is billed: whoever asks for its prices is told those of the first period after it, which the first invoice has.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const END = '2025-02-01T00:00:00.000Z';

const weir = ownWeir();
let billing: Invoicing;
let calls: PricedMeter;
let plan: { id: string; charges: string[] };
let customer: { id: string; external_id: string };
let trial: string;

const base = (unit_price: string) => ({ type: 'FIXED', display_name: 'Base', unit_price });
const usage = (meter: PricedMeter, unit_price: string) => ({
  type: 'USAGE',
  display_name: 'Calls',
  meter_id: meter.id,
  unit_price,
});

// A trial of January, and it is the 5th. Billing goes back in time for the next test, so each has an organization of its own.
beforeEach(async () => {
  billing = await startInvoicing(weir);
  calls = await billing.meter();
  plan = await billing.plan([base('10'), usage(calls, '1')]);
  customer = await billing.customer();
  await billing.moveTo('2025-01-01T00:00:00Z');
  ({ id: trial } = await billing.subscribe(plan.id, customer.id, { trial_end_date: END }));
  await billing.moveTo('2025-01-05T00:00:00Z');
});
afterEach(() => billing.close());

const replace = (index: number, charge: object) =>
  billing.post(`/plans/${plan.id}/charges`, { ...charge, replaces: plan.charges[index] }, 201);

async function shownPlan() {
  const body = { customer_external_id: customer.external_id };
  const apiKey = await billing.admin.createKey();
  const { body: made } = await weir.request('POST', '/api/v1/widget/token', { apiKey, body });
  const headers = { authorization: `Bearer ${made.token}` };
  return (await weir.request('GET', '/api/v1/widget/plan', { headers })).body.plan;
}

/** What the first invoice has in advance: as it is previewed, and then as it is made. */
async function firstInvoice(): Promise<{ preview: object; made: object }> {
  const preview = await billing.post(`/subscriptions/${trial}/preview-invoice`);
  await billing.moveTo(END, trial);
  const [draft] = await billing.drafts(trial);
  return { preview, made: await billing.get(`/invoices/${draft?.id}`) };
}

test('a price that is replaced in a trial is shown as the first invoice has it', async () => {
  await replace(0, base('20'));
  const { id: replaced } = await replace(1, usage(calls, '2'));
  const prices = [
    { display_name: 'Base', unit_price: '20' },
    { display_name: 'Calls', unit_price: '2' },
  ];
  expect((await shownPlan()).charges).toMatchObject(prices);
  expect((await billing.get(`/subscriptions/${trial}/usage`)).data).toMatchObject([{ charge_id: replaced }]);
  const invoice = { total: '20.00', lines: [{ description: 'Base', amount: '20.00' }] };
  expect(await firstInvoice()).toMatchObject({ preview: invoice, made: invoice });
  expect((await shownPlan()).charges).toMatchObject(prices);
});

test('a charge that is added in a trial is shown, and one that is announced for later is not', async () => {
  await billing.post(`/plans/${plan.id}/charges`, { ...base('3'), display_name: 'Support' }, 201);
  await replace(0, { ...base('30'), effective_from: '2025-02-02' });
  expect((await shownPlan()).charges).toMatchObject([
    { display_name: 'Base', unit_price: '10' },
    { display_name: 'Calls', unit_price: '1' },
    { display_name: 'Support', unit_price: '3' },
  ]);
});

test('a plan that takes the place of the one of a trial at once is shown with its prices', async () => {
  const { id: plan_id } = await billing.plan([base('7')], { name: 'Other' });
  await billing.post(`/subscriptions/${trial}/change`, { plan_id, when: 'now' });
  const shown = { name: 'Other', charges: [{ display_name: 'Base', unit_price: '7' }] };
  expect(await shownPlan()).toMatchObject(shown);
  expect(await firstInvoice()).toMatchObject({ preview: { total: '7.00' }, made: { total: '7.00' } });
  expect(await shownPlan()).toMatchObject(shown);
});

test('a plan that follows at the end of a trial is shown with its prices, and the usage that it will bill', async () => {
  const tokens = await billing.meter();
  const next = await billing.plan([base('70'), usage(tokens, '3')], { name: 'Next', billing_interval: 'year' });
  await billing.post(`/subscriptions/${trial}/change`, { plan_id: next.id });
  const at = '2025-01-04T00:00:00Z';
  await billing.track([
    { meter: calls, customer: customer.external_id, quantity: 5, at },
    { meter: tokens, customer: customer.external_id, quantity: 8, at },
  ]);
  const shown = { name: 'Next', billing_interval: 'year', charges: [{ unit_price: '70' }, { unit_price: '3' }] };
  expect(await shownPlan()).toMatchObject(shown);
  const counted = { charge_id: next.charges[1], meter_id: tokens.id, amount: '0.00' };
  expect((await billing.get(`/subscriptions/${trial}/usage`)).data).toEqual([{ ...counted, quantity: '8' }]);
  expect(await firstInvoice()).toMatchObject({ preview: { total: '70.00' }, made: { total: '70.00' } });
  expect(await shownPlan()).toMatchObject(shown);
  expect((await billing.get(`/subscriptions/${trial}/usage`)).data).toEqual([{ ...counted, quantity: '0' }]);
});

test('a change that is to come at the end of a period that is billed is not shown before', async () => {
  await billing.moveTo(END, trial);
  const next = await billing.plan([base('70')], { name: 'Next' });
  await billing.post(`/subscriptions/${trial}/change`, { plan_id: next.id });
  expect(await shownPlan()).toMatchObject({ name: 'Plan', charges: [{ unit_price: '10' }, { unit_price: '1' }] });
});
