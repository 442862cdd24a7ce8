// The steps of docs/operations.md for a restore, walked as they are written: no invoice of since the backup is asked for a second time,
// and none for more than it was.

import type pg from 'pg';
import { Queue } from 'bullmq';
import { afterEach, expect, test } from 'vitest';
import { setBillingTime } from '../support/billing-time.ts';
import { until } from '../support/harness.ts';
import { startBilled } from '../support/invoicing.ts';
import { sessionIn } from '../support/people.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { restoreOfEachTest, settingsOf, sqlOf, steps } from '../support/restore.ts';

const networks = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
let receiver: Receiver | undefined;
afterEach(async () => {
  await receiver?.close();
  receiver = undefined;
});
const { weir, backUp, inRestored, takeOver } = restoreOfEachTest(networks);

const asEver = { BILLING_CONCURRENCY: '1', WEBHOOK_CONCURRENCY: '32' };
const often = { ...networks, BILLING_INTERVAL_MS: '100', WEBHOOK_INTERVAL_MS: '100' };
/** Invoices that are finalized while the clock stands still are a microsecond apart: what the backup has comes before this. */
const backedUpAt = '2025-02-01T00:10:01Z';

interface Listed {
  id: string;
  subscription_id: string;
  kind: string;
  cycle: number | null;
  invoice_number: string | null;
  status: string;
  total: string;
}

/** Does something while a worker records, and neither bills nor tells. */
async function whileRecording(work: () => Promise<unknown>): Promise<void> {
  const worker = await weir.startWorker({ ...often, BILLING_CONCURRENCY: '0', WEBHOOK_CONCURRENCY: '0' });
  await work();
  await worker.close();
}

/** An organization, and a receiver that collects what is OPEN as docs/guides/services.md has it, before a restore and after it. */
async function startCollecting() {
  const billed = await startBilled(weir);
  await billed.close();
  const at = { baseUrl: weir.baseUrl, session: billed.admin.session };
  const send = async (method: string, path: string, body?: object) => {
    const answer = await weir.request(method, `/api/v1${path}`, { ...at, ...(body && { body }) });
    expect(answer, `${method} ${path}`).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) });
    return answer.body;
  };
  const collected: string[] = [];
  const collect = async (id: unknown) => {
    const { status, invoice_number, amount_due: amount } = await send('GET', `/invoices/${String(id)}`);
    if (status !== 'OPEN') return;
    collected.push(`${invoice_number} ${amount}`);
    await send('POST', `/invoices/${String(id)}/pay`, { amount, reference: `ch_${invoice_number}` });
  };
  receiver = await openReceiver(({ data }, response) => {
    collect(data['id']).then(
      () => response.writeHead(204).end(),
      () => response.writeHead(503).end(),
    );
  });
  await send('POST', '/webhook-endpoints', { url: receiver.url, event_types: ['invoice.finalized'] });
  const apiKey = await billed.admin.createKey();
  const invoicesOf = async (subscription: string): Promise<Listed[]> =>
    (await send('GET', `/subscriptions/${subscription}/invoices?page_size=100`)).data.toReversed();
  return {
    ...billed,
    send,
    collected,
    invoicesOf,
    async shown(...subscriptions: string[]) {
      const invoices = (await Promise.all(subscriptions.map(invoicesOf))).flat();
      return invoices.map(({ invoice_number, status, total }) => ({ invoice_number, status, total }));
    },
    async track(customer: string, key: string, timestamp: string, quantity = 100) {
      const event = { meter_token: billed.ownMeter.token, customer_external_id: customer, quantity, timestamp };
      const body = { ...event, idempotency_key: key };
      expect((await weir.request('POST', '/api/v1/sdk/track', { ...at, apiKey, body })).status).toBe(201);
      await weir.drained();
    },
    /** Steps 3 to 5; returns what starts another worker on the restored database in place of the one before, and what stops it. */
    async restore(env: Record<string, string>, now: string) {
      await inRestored((pool) => setBillingTime(pool, now));
      await takeOver(env);
      await inRestored((pool) => pool.query('DELETE FROM sessions'));
      const start = (settings: object) => weir.startWorker({ ...env, ...often, ...asEver, ...settings });
      let worker = await start(settingsOf(5));
      at.baseUrl = (await weir.startApi(env)).url;
      const { email, password } = billed.admin;
      const body = { email, password };
      at.session = sessionIn(await weir.request('POST', '/api/v1/auth/login', { body, baseUrl: at.baseUrl }));
      return {
        async startAgain(settings: object) {
          await worker.close();
          worker = await start(settings);
        },
        stop: () => worker.close(),
      };
    },
    /** The lists of step 12, and what holds the drafts back. */
    async hold() {
      const [list = '', hold = ''] = sqlOf(12);
      const [invoices, payments] = (await weir.pool.query(
        list.replaceAll('2026-11-07T00:30:00Z', backedUpAt),
      )) as unknown as pg.QueryResult[];
      const { rows: held } = await inRestored((pool) => pool.query<{ id: string }>(hold));
      expect(held).toEqual([{ id: billed.admin.id }]);
      return { invoices: (invoices?.rows ?? []) as Listed[], payments: payments?.rows ?? [] };
    },
    /** Adds a line that makes the total of a draft what it was. */
    async bring(id: string, total: string) {
      const { total: now } = await send('GET', `/invoices/${id}`);
      const amount = (Number(total) - Number(now)).toFixed(2);
      if (Number(amount) !== 0) await send('POST', `/invoices/${id}/lines`, { description: 'As it was', amount });
    },
    /** What is first in step 14, up to the workers. */
    async letGo() {
      const [, release = ''] =
        /`(UPDATE organizations SET finalize = 'automatic' WHERE id IN )\(…\)`/.exec(steps[14] ?? '') ?? [];
      await inRestored((pool) => pool.query(`${release} ('${billed.admin.id}')`));
    },
    /** Waits until the receiver has done what it does with so many, and nothing is left to be sent. */
    async told(count: number) {
      await until(() => (receiver?.received.length ?? 0) >= count, `the receiver hears of ${count}`);
      const { data } = await send('GET', '/webhook-endpoints');
      const waiting = `/webhook-endpoints/${data[0].id}/deliveries?status=PENDING`;
      await until(async () => (await send('GET', waiting)).data.length === 0, 'it has done what it does');
    },
  };
}

test('what was invoiced and paid since the backup is entered again, and nothing is collected twice', async () => {
  const own = await startCollecting();
  const { send, collected, subscription } = own;
  const shown = () => own.shown(subscription);
  const track = () => own.track(own.ownCustomer.external_id, 'since', '2025-01-20T00:00:00Z');

  const env = await backUp();
  await setBillingTime(weir.pool, '2025-02-01T00:20:00Z');
  const paid = (await own.invoicesOf(subscription))[0]?.id;
  await send('POST', `/invoices/${paid}/pay`, { reference: 'ch_first' });
  const former = await weir.startWorker({ ...often, ...asEver });
  await track();
  await setBillingTime(weir.pool, '2025-02-01T01:10:00Z');
  await until(() => collected.length === 1, 'the draft of the backup is collected');
  await setBillingTime(weir.pool, '2025-03-01T00:05:00Z');
  await until(async () => (await shown()).length === 3, 'the next draft is made');
  await setBillingTime(weir.pool, '2025-03-01T01:10:00Z');
  await until(async () => (await shown()).every(({ status }) => status === 'PAID'), 'all is collected');
  await former.close();
  const original = await shown();
  expect(original.map(({ total }) => total)).toEqual(['10.00', '11.50', '10.00']);
  const before = original.slice(1).map(({ invoice_number, total }) => `${invoice_number} ${total}`);
  expect(collected).toEqual(before);

  const { startAgain, stop } = await own.restore(env, '2025-03-01T09:30:00Z');
  const jobs = new Queue('billing', { connection: weir.redis, prefix: weir.keys.prefix });
  const isLeft = async () => (await jobs.getWaiting()).some(({ name }) => name === 'finalize');
  await until(async () => collected.length > 2 || (await isLeft()), 'it is found what is due');
  await jobs.close();
  expect(collected).toEqual(before);
  await track();
  expect(await shown()).toMatchObject([{ status: 'OPEN' }, { status: 'DRAFT' }]);
  await send('POST', `/invoices/${paid}/pay`, { reference: 'ch_first' });

  const { invoices, payments } = await own.hold();
  expect([invoices.length, payments.length]).toEqual([2, 3]);
  await startAgain({ WEBHOOK_CONCURRENCY: '0' });
  await until(async () => (await shown()).length === 3, 'drafts are made');
  for (const { invoice_number, cycle, total } of invoices) {
    const draft = (await own.invoicesOf(subscription)).find((invoice) => invoice.cycle === cycle);
    const { id } = await send('POST', `/invoices/${draft?.id}/finalize`);
    expect(await send('GET', `/invoices/${id}`)).toMatchObject({ invoice_number, total, status: 'OPEN' });
    await send('POST', `/invoices/${id}/pay`, { reference: `ch_${invoice_number}` });
  }
  expect(await shown()).toEqual(original);
  expect(receiver?.received).toHaveLength(2);

  await own.letGo();
  await startAgain({});
  await own.told(4);
  expect(collected).toEqual(before);
  expect(await shown()).toEqual(original);
  await stop();
});

test('who canceled since the backup pays for no time after it, and lines by hand stay', async () => {
  const own = await startCollecting();
  const { send, collected, subscription: ended } = own;
  const customer = await send('POST', '/customers', { external_id: 'stays' });
  const start = { start_date: '2025-02-01T00:00:00Z' };
  const stays = (await send('POST', '/subscriptions', { plan_id: own.ownPlan.id, customer_id: customer.id, ...start }))
    .id;
  await whileRecording(async () => {
    await own.track(own.ownCustomer.external_id, 'billed', '2025-02-05T00:00:00Z', 1000);
    await own.track(own.ownCustomer.external_id, 'after', '2025-03-02T00:00:00Z', 2000);
  });
  const draftsOf = async (id: string) => (await own.invoicesOf(id)).filter(({ status }) => status === 'DRAFT');

  const env = await backUp();
  await weir.pool.query("UPDATE organizations SET finalize = 'manual'");
  const [first] = await own.invoicesOf(ended);
  await send('POST', `/invoices/${first?.id}/pay`, { reference: 'ch_first' });
  await setBillingTime(weir.pool, '2025-02-10T12:00:00Z');
  await send('POST', `/subscriptions/${ended}/cancel`, { cancel_at_period_end: false });
  for (const { id } of await draftsOf(ended)) {
    await send('POST', `/invoices/${id}/finalize`);
    await send('POST', `/invoices/${id}/pay`, { reference: `ch_${id}` });
  }
  const [discounted] = await draftsOf(stays);
  await send('POST', `/invoices/${discounted?.id}/lines`, { description: 'Discount', amount: '-1' });
  await setBillingTime(weir.pool, '2025-03-05T09:00:00Z');
  const former = await weir.startWorker({ ...often, ...asEver });
  await until(async () => (await draftsOf(stays)).length === 2, 'the next draft of the other one is made');
  await former.close();
  const original = await own.shown(ended);
  expect(original.map(({ status, total }) => `${status} ${total}`)).toEqual(['PAID 10.00', 'PAID 3.57', 'PAID 15.00']);

  const { startAgain, stop } = await own.restore(env, '2025-03-05T09:30:00Z');
  await send('POST', `/invoices/${first?.id}/pay`, { reference: 'ch_first' });
  await send('POST', `/subscriptions/${ended}/cancel`, { cancel_at_period_end: false });
  const { invoices } = await own.hold();
  await startAgain({ WEBHOOK_CONCURRENCY: '0' });
  await until(async () => (await draftsOf(stays)).length === 2, 'drafts are made');
  for (const { cycle, total, invoice_number } of invoices) {
    const draft = (await draftsOf(ended)).find((invoice) => invoice.cycle === cycle);
    await own.bring(draft?.id ?? '', total);
    expect(await send('POST', `/invoices/${draft?.id}/finalize`)).toMatchObject({ invoice_number, total });
    await send('POST', `/invoices/${draft?.id}/pay`, { reference: `ch_${invoice_number}` });
  }

  const [compare = ''] = sqlOf(13);
  const here = (await inRestored((pool) => pool.query(compare))).rows;
  const { rows: before } = await weir.pool.query(compare);
  const isIn = (rows: object[]) => (row: object) => rows.some((other) => JSON.stringify(other) === JSON.stringify(row));
  const differs = (rows: object[], others: object[]) => rows.filter((row) => !isIn(others)(row));
  expect(differs(before, here)).toMatchObject([{ subscription_id: stays, cycle: 0, by_hand: '-1.00 Discount' }]);
  expect(differs(here, before)).toHaveLength(2);
  expect(differs(here, before)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ subscription_id: ended, cycle: 3, period_start: '2025-03-01T00:00:00.000Z' }),
      expect.objectContaining({ subscription_id: stays, cycle: 0, by_hand: null }),
    ]),
  );
  const [surplus] = await draftsOf(ended);
  expect((await send('GET', `/invoices/${surplus?.id}`)).total).toBe('30.00');
  await own.bring(surplus?.id ?? '', '0');
  expect(await send('POST', `/invoices/${surplus?.id}/finalize`)).toMatchObject({ total: '0.00', status: 'PAID' });
  const [again] = await draftsOf(stays);
  await send('POST', `/invoices/${again?.id}/lines`, { description: 'Discount', amount: '-1' });

  await own.letGo();
  await inRestored((pool) => setBillingTime(pool, '2025-03-05T11:00:00Z'));
  await startAgain({});
  await until(
    async () => (await own.shown(stays)).every(({ status }) => status === 'PAID'),
    'the other one is collected',
  );
  await own.told(5);
  expect(collected.map((each) => each.split(' ')[1])).toEqual(['9.00', '10.00']);
  expect((await own.shown(ended)).slice(0, 3)).toEqual(original);
  await stop();
});

test('an adjustment of since the backup has its number again, and is not collected twice', async () => {
  const own = await startCollecting();
  const { send, collected, subscription: rebilled } = own;
  const customer = await send('POST', '/customers', { external_id: 'late' });
  const late = (
    await send('POST', '/subscriptions', {
      plan_id: own.ownPlan.id,
      customer_id: customer.id,
      start_date: '2025-02-01T00:00:00Z',
    })
  ).id;
  await whileRecording(async () => {
    for (const { external_id } of [own.ownCustomer, customer])
      await own.track(external_id, external_id, '2025-02-05T00:00:00Z', 1000);
  });
  for (const id of [rebilled, late])
    for (const { id: draft, status } of await own.invoicesOf(id))
      if (status === 'DRAFT') await send('POST', `/invoices/${draft}/finalize`);
  await setBillingTime(weir.pool, '2025-02-10T12:00:00Z');
  const isOpen = async (id: string) => (await own.invoicesOf(id)).filter(({ status }) => status === 'OPEN');
  for (const id of [rebilled, late]) {
    for (const { id: open } of await isOpen(id)) await send('POST', `/invoices/${open}/pay`, { reference: open });
    await send('POST', `/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
  }
  const trackLate = () => own.track('late', 'since', '2025-02-06T00:00:00Z');
  const pay = (id: string) => send('POST', `/invoices/${id}/pay`, { reference: `ch_${id}` });
  const draftOf = async (id: string) => (await own.invoicesOf(id)).find(({ status }) => status === 'DRAFT');

  const env = await backUp();
  await weir.pool.query("UPDATE organizations SET finalize = 'manual'");
  const finalize = async (id: string) => (await send('POST', `/invoices/${(await draftOf(id))?.id}/finalize`)).id;
  await send('POST', `/invoices/${await finalize(rebilled)}/void`, { rebill: true });
  await pay(await finalize(late));
  await whileRecording(trackLate);
  for (const id of [rebilled, late]) await pay((await send('POST', `/subscriptions/${id}/settle`)).invoice.id);
  const original = await own.shown(rebilled, late);

  const { startAgain, stop } = await own.restore(env, '2025-02-12T09:30:00Z');
  await trackLate();
  const { invoices } = await own.hold();
  expect(invoices.map(({ kind }) => kind)).toEqual(['SUBSCRIPTION', 'SUBSCRIPTION', 'ADJUSTMENT', 'ADJUSTMENT']);
  await startAgain({ WEBHOOK_CONCURRENCY: '0' });
  const bringBack = async ({ kind, subscription_id: id, total }: Listed): Promise<string> => {
    if (kind === 'SUBSCRIPTION') {
      await own.bring((await draftOf(id))?.id ?? '', total);
      return await finalize(id);
    }
    const { invoice } = await send('POST', `/subscriptions/${id}/settle`);
    if (invoice !== null) return invoice.id;
    const { customer_id } = await send('GET', `/subscriptions/${id}`);
    const plan = { name: 'As it was', lookup_id: 'as-it-was', type: 'FIXED', billing_interval: 'day', currency: 'USD' };
    const { id: plan_id } = await send('POST', '/plans', plan);
    await send('POST', `/plans/${plan_id}/charges`, { type: 'FIXED', display_name: 'Calls', unit_price: total });
    const other = (await send('POST', '/subscriptions', { plan_id, customer_id })).id;
    const made = await finalize(other);
    await send('POST', `/subscriptions/${other}/cancel`, { cancel_at_period_end: false });
    expect(await draftOf(other)).toBeUndefined();
    return made;
  };
  for (const invoice of invoices) {
    const id = await bringBack(invoice);
    const { invoice_number, total, status } = invoice;
    expect(await send('GET', `/invoices/${id}`)).toMatchObject({ invoice_number, total, status: 'OPEN' });
    await (status === 'VOID' ? send('POST', `/invoices/${id}/void`, { rebill: true }) : pay(id));
  }
  expect(await own.shown(rebilled)).toEqual(original.slice(0, 4));
  const [compare = ''] = sqlOf(13);
  expect((await inRestored((pool) => pool.query(compare))).rows).toEqual([]);

  await own.letGo();
  await startAgain({});
  await own.told(4);
  expect(collected).toEqual([]);
  await stop();
});
