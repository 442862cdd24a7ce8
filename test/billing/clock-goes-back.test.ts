// The clock of Postgres goes back by some minutes: what was done before it did is before what is done after it all the same.

import { appendFeed } from '@weir/db/billing/feed';
import { checkBilling } from '@weir/db/billing/checks/billing-checks';
import { readAsIssued } from '@weir/db/billing/invoices/as-issued';
import { takeNumbers } from '@weir/db/billing/invoices/invoice-numbers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { setBillingTime } from '../support/billing-time.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp } from '../support/harness.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
const BEFORE = '2025-01-10T12:00:00.000000Z';
const AHEAD = '2025-01-10T12:02:00.000000Z';

let billing: Invoicing;
beforeAll(async () => {
  billing = await startInvoicing(weir);
});
afterAll(() => billing.close());
beforeEach(() => clock(AHEAD));

const clock = (instant: string) => setBillingTime(weir.pool, instant);
const fixed = (unit_price: string, more: object = {}) => ({
  type: 'FIXED',
  display_name: `Fee of ${unit_price}`,
  unit_price,
  ...more,
});
const dues = async (subscription: string) => {
  const { rows } = await weir.pool.query<{ said: string }>(
    `SELECT cycle || ' ' || display_name AS said FROM dues WHERE subscription_id = $1 ORDER BY cycle, display_name`,
    [subscription],
  );
  return rows.map(({ said }) => said);
};
const faults = () => checkBilling(billing.database, { organizationId: billing.admin.id }, () => {});

test('who subscribes to a price that was given before it did is billed by that price', async () => {
  const { id: plan } = await billing.plan([fixed('1')]);
  const { id: customer_id } = await billing.customer();
  await clock(BEFORE);
  const preview = await billing.post('/subscriptions/preview', { customer_id, plan_id: plan });
  expect(preview).toMatchObject({ current_period_start: '2025-01-10T12:00:00.000Z', invoices: 1 });
  const { id } = await billing.subscribe(plan, customer_id);
  expect(await dues(id)).toEqual(['0 Fee of 1']);
  expect(await billing.get(`/subscriptions/${id}`)).toMatchObject({
    status: 'ACTIVE',
    start_date: '2025-01-10T12:00:00.000Z',
  });
  expect(await faults()).toEqual([]);
});

test('who subscribes after a price took the place of another is billed by the new one alone', async () => {
  await clock('2025-01-01T00:00:00Z');
  const { id: plan, charges } = await billing.plan([fixed('1')]);
  await clock(AHEAD);
  await billing.post(`/plans/${plan}/charges`, fixed('2', { replaces: charges[0] }), 201);
  await clock(BEFORE);
  const { id } = await billing.subscribe(plan, (await billing.customer()).id);
  expect(await dues(id)).toEqual(['0 Fee of 2']);
  expect(await faults()).toEqual([]);
});

test('a price that is announced is not billed before it begins', async () => {
  await clock('2025-01-01T00:00:00Z');
  const { id: plan, charges } = await billing.plan([fixed('1')]);
  const announced = fixed('2', { replaces: charges[0], effective_from: '2025-02-01' });
  await clock(AHEAD);
  await billing.post(`/plans/${plan}/charges`, announced, 201);
  await clock(BEFORE);
  const { id } = await billing.subscribe(plan, (await billing.customer()).id);
  await billing.moveTo('2025-02-10T12:00:00Z', id);
  expect(await dues(id)).toEqual(['0 Fee of 1', '1 Fee of 2']);
});

test('a change to a plan whose price was given before it did waits until the clock is there', async () => {
  const { id: plan } = await billing.plan([fixed('1')]);
  const { id } = await billing.subscribe(plan, (await billing.customer()).id);
  await clock('2025-01-20T12:02:00Z');
  const { id: plan_id } = await billing.plan([fixed('2')]);
  await clock('2025-01-20T12:00:00Z');
  const change = (body: object) => billing.request('POST', `/subscriptions/${id}/change`, { plan_id, ...body });
  expectProblem(await change({ when: 'now' }), 409, 'subscription_behind');
  const preview = await billing.request('POST', `/subscriptions/${id}/preview-change`, { plan_id });
  expectProblem(preview, 409, 'subscription_behind');
  expect((await change({ when: 'period_end' })).status).toBe(200);
  await clock('2025-01-20T12:02:00Z');
  expect((await change({ when: 'now' })).status).toBe(200);
  expect(await dues(id)).toEqual(['0 Fee of 1', '1 Fee of 2']);
});

test('the older invoice is paid first, and stays as it was issued: times rise with the numbers', async () => {
  const { id: customer } = await billing.customer();
  const { id: plan } = await billing.plan([fixed('10')]);
  const issue = async (adjustment?: string) => {
    const { id: subscription } = await billing.subscribe(plan, customer);
    const [draft] = await billing.drafts(subscription);
    const line = { description: 'Goodwill', amount: adjustment };
    if (adjustment !== undefined) await billing.post(`/invoices/${draft?.id}/lines`, line, 201);
    const [issued] = await billing.finalizeAll(subscription);
    return issued;
  };
  const older = await issue();
  await clock(BEFORE);
  const newer = await issue();
  const below = await issue('-15');
  expect([older, newer, below].map(({ finalized_at }) => finalized_at)).toEqual([
    AHEAD.replace('000000', '000'),
    AHEAD.replace('000000', '000001'),
    AHEAD.replace('000000', '000002'),
  ]);
  expect(await billing.get(`/invoices/${older.id}`)).toMatchObject({ credits_applied: '5.00', amount_due: '5.00' });
  const { kysely } = billing.database;
  expect(await readAsIssued(kysely, billing.admin.id, older)).toMatchObject({ credits_applied: '0.00' });
  expect(await faults()).toEqual([]);
});

test('times of invoices rise with their numbers also into a year that begins earlier, further east', async () => {
  const admin = await signUp(weir);
  const issue = async (at: string) => {
    await clock(at);
    return await billing.database.kysely.transaction().execute((transaction) => takeNumbers(transaction, admin.id, 1));
  };
  const older = await issue('2025-12-31T11:30:00Z');
  await admin.call('PATCH', '/billing/settings', { time_zone: 'Pacific/Kiritimati' }, 200);
  const newer = await issue('2025-12-31T11:00:00Z');
  expect([older, newer]).toMatchObject([
    { numbers: ['INV-2025-000001'], finalized_at: '2025-12-31T11:30:00.000Z' },
    { numbers: ['INV-2026-000001'], finalized_at: '2025-12-31T11:30:00.000001Z' },
  ]);
});

test('times of the feed rise with its numbers: a replay from a time on leaves none out', async () => {
  const admin = await signUp(weir);
  const ask = (path: string, body?: object) =>
    weir.request(body === undefined ? 'GET' : 'POST', `/api/v1${path}`, {
      session: admin.session,
      ...(body && { body }),
    });
  for (const at of ['12:01', '12:02', '12:00', '12:01', '12:03']) {
    await clock(`2025-01-10T${at}:00Z`);
    await billing.database.kysely
      .transaction()
      .execute((transaction) =>
        appendFeed(transaction, admin.id, [{ type: 'invoice.paid', actor: 'weir', data: { id: at } }]),
      );
  }
  const { data } = (await ask('/billing-events')).body;
  expect(data.map(({ created_at }: { created_at: string }) => created_at.slice(11, 16))).toEqual([
    '12:01',
    '12:02',
    '12:02',
    '12:02',
    '12:03',
  ]);
  const endpoint = (await ask('/webhook-endpoints', { url: 'https://example.com/hooks' })).body;
  const { body } = await ask(`/webhook-endpoints/${endpoint.id}/replay`, { from: '2025-01-10T12:01:30Z' });
  expect(body.replay).toEqual({ next_sequence: 2, last_sequence: 5 });
});
