// An open invoice can bill and give back at once. Voided, what it billed is waived, and what it gave back is given by the next one.

import { voidInvoice } from '@weir/db/billing/run/invoice-states';
import { findUnsettled, settleSubscription } from '@weir/db/billing/run/settlements';
import { lockSubscription } from '@weir/db/billing/subscriptions/subscriptions';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { expectSound } from '../support/expect-sound.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { untilWaiting } from '../support/until-waiting.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Invoicing;
/** Of the test, which has one subscription. */
let subscription: string;

beforeEach(async () => {
  billing = await startInvoicing(weir);
});
afterEach(() => billing.close());

const unsettled = async () =>
  (await findUnsettled(billing.database.kysely, billing.admin.id, { after: undefined, limit: 10 })).ids;
const settle = () => settleSubscription(billing.database, billing.admin.id, subscription, { actor: 'weir' });

/** One of 1.00 for each unit, from January on. */
async function perUnit() {
  const meter = await billing.meter();
  const plan = await billing.plan([{ type: 'USAGE', display_name: 'Calls', meter_id: meter.id, unit_price: '1' }]);
  const customer = await billing.customer();
  await billing.moveTo('2025-01-01T00:00:00Z');
  ({ id: subscription } = await billing.subscribe(plan.id, customer.id, { start_date: '2025-01-01' }));
  const apiKey = await billing.admin.createKey();
  const use = async (quantity: number, timestamp = '2025-01-05T00:00:00Z'): Promise<string> => {
    const body = { meter_token: meter.token, customer_external_id: customer.external_id, quantity, timestamp };
    const answer = await weir.request('POST', '/api/v1/sdk/track', { apiKey, body });
    expect(answer.status).toBe(201);
    await weir.drained();
    return answer.body.id;
  };
  const finalizeAt = async (at: string) => {
    await billing.moveTo(at, subscription);
    return (await billing.finalizeAll(subscription))[0];
  };
  return { customer: customer.id, use, finalizeAt };
}

test('after changes of plan there and back the dates on the first one are paid, and those between waived', async () => {
  const fee = (unit_price: string) => ({ type: 'FIXED', display_name: 'Fee', unit_price });
  const cheap = await billing.plan([fee('31')]);
  const dear = await billing.plan([fee('62')]);
  const changeTo = async (plan: { id: string }, at: string) => {
    await billing.moveTo(at);
    await billing.post(`/subscriptions/${subscription}/change`, { plan_id: plan.id, when: 'now' });
    return (await billing.finalizeAll(subscription))[0];
  };
  const customer = await billing.customer();
  await billing.moveTo('2025-01-01T00:00:00Z');
  ({ id: subscription } = await billing.subscribe(cheap.id, customer.id, { start_date: '2025-01-01' }));
  const [first] = await billing.finalizeAll(subscription);
  await billing.post(`/invoices/${first.id}/pay`);
  const changed = await changeTo(dear, '2025-01-12T00:00:00Z');
  expect(changed).toMatchObject({ status: 'OPEN', total: '20.00' });
  await billing.post(`/invoices/${changed.id}/void`);
  // 11 and 15 dates at 1.00, of which 31.00 are paid.
  expect(await changeTo(cheap, '2025-01-17T00:00:00Z')).toMatchObject({ status: 'PAID', total: '-5.00' });
  expect(await billing.get(`/customers/${customer.id}/credits`)).toMatchObject({ balance: { USD: '5.00' } });
  await expectSound(billing, subscription);
});

/** January came to 100.00, of which 30.00 are voided: the next invoice has 50.00 and takes 30.00 away. */
async function corrected({ isPaid }: { isPaid: boolean }) {
  const { use, finalizeAt } = await perUnit();
  const first = await use(70);
  const event = await use(30);
  const january = await finalizeAt('2025-02-01T00:10:00Z');
  expect(january).toMatchObject({ total: '100.00' });
  if (isPaid) await billing.post(`/invoices/${january.id}/pay`);
  await billing.post(`/events/${event}/void`, { reason: 'Twice' }, 201);
  await use(50, '2025-02-05T00:00:00Z');
  const february = await finalizeAt('2025-03-01T00:10:00Z');
  expect(february).toMatchObject({ status: 'OPEN', total: '20.00' });
  const nextInvoice = (at = '2025-04-01T00:10:00Z') => finalizeAt(at);
  return { use, first, january: january.id, february: february.id, nextInvoice };
}

test('what was paid comes back with the next invoice', async () => {
  const { february, nextInvoice } = await corrected({ isPaid: true });
  await billing.post(`/invoices/${february}/void`);
  expect((await nextInvoice()).lines).toMatchObject([
    { cycle: 2, amount: '0.00' },
    { cycle: 0, exact_amount: '70', billed_before: '100.00', amount: '-30.00' },
  ]);
  await expectSound(billing, subscription);
});

test('what a waived invoice took away is told as left, and a settlement gives it back at once', async () => {
  const { february } = await corrected({ isPaid: true });
  const isLeft = async () => (await billing.get(`/subscriptions/${subscription}`)).is_rebilling;
  const settleNow = () => billing.request('POST', `/subscriptions/${subscription}/settle`);
  expect(await isLeft()).toBe(false);
  expectProblem(await settleNow(), 409, 'subscription_not_ended');
  expect(await billing.post(`/invoices/${february}/void`)).toMatchObject({ rebilled: false });
  expect(await isLeft()).toBe(true);
  expect((await settleNow()).body.invoice.lines).toMatchObject([{ cycle: 0, amount: '-30.00' }]);
  expect(await isLeft()).toBe(false);
  await expectSound(billing, subscription);
});

test('what was paid and was right after all is not asked for twice', async () => {
  const { use, february, nextInvoice } = await corrected({ isPaid: true });
  await billing.post(`/invoices/${february}/void`);
  await use(30);
  expect((await nextInvoice()).lines).toMatchObject([
    { cycle: 2, amount: '0.00' },
    { cycle: 0, exact_amount: '100', billed_before: '100.00', amount: '0.00' },
  ]);
  await expectSound(billing, subscription);
});

test('of an ended subscription of which nothing is left to give back the run looks at nothing any more', async () => {
  const { use, january, february } = await corrected({ isPaid: false });
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
  await billing.finalizeAll(subscription);
  await billing.post(`/invoices/${february}/void`);
  await billing.post(`/invoices/${january}/void`);
  expect(await unsettled()).toEqual([subscription]);
  expect(await settle()).toEqual({ outcome: 'nothing' });
  expect(await unsettled()).toEqual([]);
  // What comes late is billed all the same.
  await use(40);
  expect(await unsettled()).toEqual([subscription]);
  expect(await settle()).toMatchObject({ outcome: 'settled' });
  await expectSound(billing, subscription);
});

test('what was waived whole is not asked for again when the event comes again', async () => {
  const { use, january, february, nextInvoice } = await corrected({ isPaid: false });
  expectProblem(await billing.request('POST', `/invoices/${january}/void`), 409, 'invoice_given_back');
  await billing.post(`/invoices/${february}/void`);
  await billing.post(`/invoices/${january}/void`);
  await use(30);
  expect((await nextInvoice()).lines).toMatchObject([
    { cycle: 2, amount: '0.00' },
    { cycle: 0, exact_amount: '100', billed_before: '100.00', amount: '0.00' },
  ]);
  await expectSound(billing, subscription);
});

test('where what came back may be of another invoice that billed the same, a void is refused, and says why', async () => {
  const { use, first, nextInvoice } = await corrected({ isPaid: true });
  const late = await use(40);
  const march = await nextInvoice();
  expect(march).toMatchObject({ status: 'OPEN', total: '40.00' });
  for (const event of [first, late]) await billing.post(`/events/${event}/void`, { reason: 'Never was' }, 201);
  // Above zero, so that it pays none of the open ones.
  await use(200, '2025-04-05T00:00:00Z');
  expect(await nextInvoice('2025-05-01T00:10:00Z')).toMatchObject({ total: '90.00' });
  const refused = await billing.request('POST', `/invoices/${march.id}/void`);
  expectProblem(refused, 409, 'invoice_given_back');
  expect(refused.body.detail).toContain('or they billed something of the same charges and periods as well');
  expect(refused.body.detail).toContain('or mark it uncollectible');
  await billing.post(`/invoices/${march.id}/uncollectible`);
  const again = await billing.request('POST', `/invoices/${march.id}/void`);
  expectProblem(again, 409, 'invoice_given_back');
  expect(again.body.detail).toContain('or leave it uncollectible');
  await expectSound(billing, subscription);
});

test('where a person ended what others had left of a grant, no more of it ends with a void invoice', async () => {
  const { customer, use, finalizeAt } = await perUnit();
  const paid: { event: string; invoice: string; payment: string }[] = [];
  for (const [month, quantity] of [20, 10].entries()) {
    const event = await use(quantity, `2025-0${month + 1}-05T00:00:00Z`);
    const { id: invoice } = await finalizeAt(`2025-0${month + 2}-01T00:10:00Z`);
    const { payments } = await billing.post(`/invoices/${invoice}/pay`);
    paid.push({ event, invoice, payment: payments[0].id });
  }
  for (const { event } of paid) await billing.post(`/events/${event}/void`, { reason: 'Never was' }, 201);
  expect(await finalizeAt('2025-04-01T00:10:00Z')).toMatchObject({ total: '-30.00' });
  const other = await billing.plan([{ type: 'FIXED', display_name: 'Fee', unit_price: '10' }]);
  const { id: drawing } = await billing.subscribe(other.id, customer);
  expect((await billing.finalizeAll(drawing))[0]).toMatchObject({ status: 'PAID', credits_applied: '10.00' });
  for (const { invoice, payment } of paid)
    expect((await billing.request('DELETE', `/invoices/${invoice}/payments/${payment}`)).status).toBe(204);
  // 20.00 of the grant end, which is all that is left of it.
  const [first, second] = paid.map(({ invoice }) => `/invoices/${invoice}/void`);
  await billing.post(first ?? '');
  const { balance, grants } = await billing.get(`/customers/${customer}/credits`);
  expect(balance).toEqual({ USD: '0.00' });
  await billing.post(`/credits/${grants[0].id}/void`);
  expectProblem(await billing.request('POST', second ?? ''), 409, 'invoice_given_back');
  await expectSound(billing, subscription);
});

test('what is voided to be billed again while the run leaves the rest as it was billed is not forgotten', async () => {
  const { use, finalizeAt } = await perUnit();
  await use(5);
  const january = await finalizeAt('2025-02-01T00:10:00Z');
  // Less than half a cent, and a fee, so that the last invoice has a line of the same due and can be voided.
  await use(0.001);
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
  const [draft] = await billing.drafts(subscription);
  await billing.post(`/invoices/${draft?.id}/lines`, { description: 'Fee', amount: '1' }, 201);
  const [last] = await billing.finalizeAll(subscription);
  expect(last).toMatchObject({
    total: '1.00',
    lines: [{ cycle: 1 }, { cycle: 0, amount: '0.00' }, { amount: '1.00' }],
  });
  await billing.post(`/invoices/${last.id}/void`, { rebill: true });
  expect(await unsettled()).toEqual([subscription]);
  const { id: organizationId } = billing.admin;
  const settling = await billing.database.kysely.transaction().execute(async (transaction) => {
    await lockSubscription(transaction, organizationId, subscription);
    const settled = settle();
    await untilWaiting(weir);
    const which = { organizationId, id: january.id, actor: 'weir' };
    expect(await voidInvoice(transaction, which, { note: null, rebill: true })).toEqual({ outcome: 'done' });
    return { settled };
  });
  expect(await settling.settled).toEqual({ outcome: 'nothing' });
  expect(await unsettled()).toEqual([subscription]);
  expect(await settle()).toMatchObject({ outcome: 'settled' });
  const { data } = await billing.get(`/subscriptions/${subscription}/invoices?status=OPEN`);
  expect(data).toMatchObject([{ kind: 'ADJUSTMENT', total: '5.00' }]);
  await expectSound(billing, subscription);
});
