// Who finalizes a draft, and when: the run once its grace is over, which begins when the draft is made; or only people.

import { readFileSync } from 'node:fs';
import { settleSubscription } from '@weir/db/billing/run/settlements';
import { finalizeInvoices } from '@weir/db/billing/run/finalize';
import { readRunState } from '@weir/db/billing/run/run-work';
import { newId } from '@weir/shared/ids';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openRun, type BillingRun } from '../support/billing-run.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { until } from '../support/harness.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Invoicing;
let run: BillingRun;
let meter: PricedMeter;
let plan: string;
let customer: { id: string; external_id: string };

beforeEach(async () => {
  billing = await startInvoicing(weir);
  run = openRun(weir, billing.database);
  meter = await billing.meter('SUM');
  const charges = [
    { type: 'FIXED', display_name: 'Base', unit_price: '31' },
    { type: 'USAGE', display_name: 'Calls', meter_id: meter.id, unit_price: '0.1' },
  ];
  plan = (await billing.plan(charges)).id;
  customer = await billing.customer();
});
afterEach(async () => {
  await weir.pool.query('UPDATE subscriptions SET run_at = NULL');
  await weir.pool.query('UPDATE invoices SET run_at = NULL, past_due_at = NULL');
  await billing.close();
});

const set = (settings: object) => billing.request('PATCH', '/billing/settings', settings);
const subscribe = async (start_date: string) => (await billing.subscribe(plan, customer.id, { start_date })).id;
const list = async (subscription: string) =>
  (await billing.get(`/subscriptions/${subscription}/invoices?page_size=100`)).data.toReversed() as {
    id: string;
    kind: string;
    status: string;
    finalizes_at: string | null;
    invoice_number: string | null;
  }[];
/** What the feed says of drafts that were made. */
const told = async () =>
  (await billing.get('/billing-events?limit=1000')).data
    .filter(({ type }: { type: string }) => type === 'invoice.created')
    .map(({ data }: { data: object }) => data) as { id: string; kind: string; finalizes_at: string | null }[];
const statuses = async (subscription: string) => (await list(subscription)).map(({ status }) => status);

describe('the grace', () => {
  test('of a start long ago begins when its drafts are made, so that they can be looked at', async () => {
    await set({ invoice_grace_hours: 6 });
    await billing.moveTo('2025-06-15T12:30:00Z');
    const subscription = await subscribe('2025-02-01');
    const drafts = await list(subscription);
    expect(drafts).toHaveLength(5);
    for (const { status, finalizes_at } of drafts)
      expect([status, finalizes_at]).toEqual(['DRAFT', '2025-06-15T18:30:00.000Z']);
    await billing.moveTo('2025-06-15T18:29:59Z');
    await run.untilDone();
    expect(new Set(await statuses(subscription))).toEqual(new Set(['DRAFT']));
    await billing.moveTo('2025-06-15T18:30:00Z');
    await run.untilDone();
    expect((await list(subscription)).map(({ invoice_number }) => invoice_number)).toEqual(
      [1, 2, 3, 4, 5].map((number) => `INV-2025-00000${number}`),
    );
  });

  test('of none finalizes a start long ago at once', async () => {
    await set({ invoice_grace_hours: 0 });
    await billing.moveTo('2025-06-15T12:30:00Z');
    const subscription = await subscribe('2025-02-01');
    await run.untilDone();
    expect(new Set(await statuses(subscription))).toEqual(new Set(['OPEN']));
  });

  test('of what the run opens late begins then as well, and a boundary to come is its own beginning', async () => {
    await billing.moveTo('2025-01-01T00:00:00Z');
    const subscription = await subscribe('2025-01-01');
    const preview = await billing.post(`/subscriptions/${subscription}/preview-invoice`);
    expect(preview.finalizes_at).toBe('2025-02-01T01:00:00.000Z');
    // The workers were away for five hours.
    await billing.moveTo('2025-02-01T05:00:00Z', subscription);
    expect((await list(subscription)).map(({ finalizes_at }) => finalizes_at)).toEqual([
      '2025-01-01T01:00:00.000Z',
      '2025-02-01T06:00:00.000Z',
    ]);
  });
});

describe('where only people finalize', () => {
  beforeEach(async () => {
    await set({ finalize: 'manual' });
    await billing.moveTo('2025-03-05T00:00:00Z');
  });

  test('a draft stays one, says that it is not finalized by itself, and the run does not look at it', async () => {
    const subscription = await subscribe('2025-01-01');
    await run.untilDone();
    await billing.moveTo('2025-03-20T00:00:00Z', subscription);
    expect(await run.find()).toEqual([]);
    expect(await readRunState(billing.database.kysely)).toEqual({ draftsDue: 0, oldestSeconds: 0, leftOut: 0 });
    const drafts = await list(subscription);
    expect(drafts.map(({ status, finalizes_at }) => [status, finalizes_at])).toEqual([
      ['DRAFT', null],
      ['DRAFT', null],
      ['DRAFT', null],
    ]);
    const ids = drafts.map(({ id }) => id);
    for (const id of ids) expect((await billing.get(`/invoices/${id}`)).finalizes_at).toBeNull();
    expect((await billing.post(`/subscriptions/${subscription}/preview-invoice`)).finalizes_at).toBeNull();
    expect((await told()).map(({ finalizes_at }) => finalizes_at)).toEqual([null, null, null]);
    // A job that was added before the setting changed does nothing either.
    for (const task of ['finalize', 'open'] as const) await run.perform({ task, organizationId: billing.admin.id });
    await finalizeInvoices(billing.database, billing.admin.id, ids, { actor: 'weir' });
    expect(await statuses(subscription)).toEqual(['DRAFT', 'DRAFT', 'DRAFT']);
  });

  test('what the run could not finalize is theirs too: only what it tries again counts as put off', async () => {
    const subscription = await subscribe('2025-02-01');
    await weir.pool.query(`UPDATE invoices SET run_error = 'why' WHERE subscription_id = $1`, [subscription]);
    const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const [, statement = ''] = /^### What billing leaves out\n[^]*?```sql\n([^]*?)```/m.exec(page) ?? [];
    const leftOut = async () => [
      (await readRunState(billing.database.kysely)).leftOut,
      (await weir.pool.query(statement)).rowCount,
      (await billing.get('/subscriptions?has_run_error=true')).data.length,
    ];
    expect(await leftOut()).toEqual([0, 0, 0]);
    await set({ finalize: 'automatic' });
    expect(await leftOut()).toEqual([2, 2, 1]);
  });

  test('each is finalized by a request, in the order of their periods, and keeps having no time of its own', async () => {
    const subscription = await subscribe('2025-02-01');
    const [first, second] = await billing.drafts(subscription);
    expectProblem(await billing.request('POST', `/invoices/${second?.id}/finalize`), 409, 'earlier_draft');
    expect(await billing.post(`/invoices/${first?.id}/finalize`)).toMatchObject({
      status: 'OPEN',
      invoice_number: 'INV-2025-000001',
      finalizes_at: null,
    });
    expect(await statuses(subscription)).toEqual(['OPEN', 'DRAFT']);
  });

  test('back to automatic, the run finalizes those whose grace is over', async () => {
    const subscription = await subscribe('2025-02-01');
    await billing.moveTo('2025-03-05T00:30:00Z');
    await set({ finalize: 'automatic' });
    expect((await list(subscription)).map(({ finalizes_at }) => finalizes_at)).toEqual([
      '2025-03-05T01:00:00.000Z',
      '2025-03-05T01:00:00.000Z',
    ]);
    await run.untilDone();
    expect(await statuses(subscription)).toEqual(['DRAFT', 'DRAFT']);
    await billing.moveTo('2025-03-05T01:00:00Z');
    await run.untilDone();
    expect(await statuses(subscription)).toEqual(['OPEN', 'OPEN']);
  });

  test('what comes late after the end is a draft as well, which takes what comes later still', async () => {
    const subscription = await subscribe('2025-03-01');
    await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
    await billing.finalizeAll(subscription);
    await use(10, '2025-03-02T00:00:00Z');
    await run.untilDone();
    const settle = () => settleSubscription(billing.database, billing.admin.id, subscription, { actor: 'weir' });
    expect(await settle()).toMatchObject({ outcome: 'drafted' });
    expect(await settle()).toEqual({ outcome: 'earlier_draft' });
    await use(5, '2025-03-03T00:00:00Z');
    const [draft] = (await list(subscription)).filter(({ kind }) => kind === 'ADJUSTMENT');
    expect(draft).toMatchObject({ status: 'DRAFT', total: '1.50', finalizes_at: null });
    expect((await told()).at(-1)).toMatchObject({ id: draft?.id, kind: 'ADJUSTMENT', cycle: null, finalizes_at: null });
    expectProblem(await billing.request('POST', `/subscriptions/${subscription}/settle`), 409, 'earlier_draft');
    await billing.moveTo('2025-04-05T00:00:00Z');
    await run.untilDone();
    const invoice = await billing.post(`/invoices/${draft?.id}/finalize`);
    expect(invoice).toMatchObject({ kind: 'ADJUSTMENT', status: 'OPEN', total: '1.50' });
    expect(await billing.post(`/invoices/${invoice.id}/recompute`)).toMatchObject({ identical: true });
    expect(await settle()).toEqual({ outcome: 'nothing' });
  });

  test('what comes late after the end is finalized at once for whoever asks for it', async () => {
    const subscription = await subscribe('2025-03-01');
    await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
    await billing.finalizeAll(subscription);
    await use(10, '2025-03-02T00:00:00Z');
    const { invoice } = await billing.post(`/subscriptions/${subscription}/settle`, undefined, 201);
    expect(invoice).toMatchObject({ status: 'OPEN', total: '1.00' });
    expect((await told()).at(-1)).toMatchObject({ id: invoice.id, kind: 'ADJUSTMENT', finalizes_at: null });
  });
});

async function use(quantity: number, at: string): Promise<void> {
  await billing.track([{ meter, customer: customer.external_id, quantity, at }]);
}

test('whoever asks for manual waits for what is being finalized, and nothing is finalized after the answer', async () => {
  await set({ invoice_grace_hours: 0 });
  await billing.moveTo('2025-03-05T00:00:00Z');
  const subscription = await subscribe('2025-02-01');
  const client = await weir.pool.connect();
  try {
    // Holds the counter of numbers, for which a finalization waits at its end.
    await client.query('BEGIN');
    await client.query('LOCK TABLE invoice_numbers IN EXCLUSIVE MODE');
    const done = run.untilDone();
    await waiting(1);
    const answer = set({ finalize: 'manual' });
    await waiting(2);
    await client.query('COMMIT');
    expect((await answer).status).toBe(200);
    const after = await statuses(subscription);
    await done;
    expect(await statuses(subscription)).toEqual(after);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
  await billing.moveTo('2025-05-05T00:00:00Z', subscription);
  await run.untilDone();
  expect((await statuses(subscription)).filter((status) => status === 'DRAFT')).toHaveLength(2);
});

/** Waits until so many wait for a lock. */
const waiting = (count: number) =>
  until(async () => {
    const { rows } = await weir.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length >= count;
  }, `${count} wait for a lock`);

describe('many drafts in one request', () => {
  const finalize = (ids: unknown) => billing.request('POST', '/invoices/finalize', { ids });

  test('are finalized in the order of their periods, however they are named, and once', async () => {
    await set({ finalize: 'manual' });
    await billing.moveTo('2025-06-15T12:30:00Z');
    const subscription = await subscribe('2025-01-01');
    const ids = (await list(subscription)).map(({ id }) => id).toReversed();
    const numbers = [6, 5, 4, 3, 2, 1].map((number) => `INV-2025-00000${number}`);
    const all = ids.map((id, at) => ({ id, invoice_number: numbers[at] }));
    const first = await finalize(ids);
    expect([first.status, first.body.data]).toEqual([200, all.map((each) => ({ ...each, outcome: 'finalized' }))]);
    expect(new Set(await statuses(subscription))).toEqual(new Set(['OPEN']));
    const again = await finalize(ids);
    expect(again.body.data).toEqual(all.map((each) => ({ ...each, outcome: 'invoice_not_draft' })));
  });

  test('are each answered for, and with one that there is not, or of another organization, nothing is done', async () => {
    await set({ finalize: 'manual' });
    await billing.moveTo('2025-03-15T00:00:00Z');
    const [first, second, third] = await list(await subscribe('2025-01-01'));
    const foreign = await startInvoicing(weir);
    try {
      await billing.moveTo('2025-03-15T00:00:00Z');
      const { id: theirs } = await foreign.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '1' }]);
      const { id } = await foreign.subscribe(theirs, (await foreign.customer()).id, { start_date: '2025-03-01' });
      const [other] = await foreign.drafts(id);
      for (const unknown of [other?.id, newId()]) expectProblem(await finalize([first?.id, unknown]), 404, 'not_found');
      const { body } = await finalize([third?.id, first?.id, third?.id]);
      expect(body.data).toMatchObject([
        { id: third?.id, outcome: 'earlier_draft', invoice_number: null },
        { id: first?.id, outcome: 'finalized', invoice_number: 'INV-2025-000001' },
      ]);
      expect((await foreign.drafts(id)).map((draft) => draft.id)).toContain(other?.id);
      expect((await finalize([second?.id, third?.id])).body.data).toMatchObject([
        { outcome: 'finalized' },
        { outcome: 'finalized' },
      ]);
    } finally {
      await foreign.close();
    }
  });

  test.each([
    ['no ids', []],
    ['what is no id', ['x']],
    ['101 ids', Array.from({ length: 101 }, () => newId())],
    ['null', null],
  ])('%s are refused', async (_, ids) => {
    expectProblem(await finalize(ids), 422, 'invalid_request');
  });
});
