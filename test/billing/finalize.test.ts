import { finalizeInvoices } from '@weir/db/billing/run/finalize';
import { expect, test } from 'vitest';
import { copyRows } from '../support/copy-rows.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { openRun, type BillingRun } from '../support/billing-run.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { until } from '../support/harness.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();

interface Scene {
  billing: Invoicing;
  run: BillingRun;
  meter: PricedMeter;
  plan: string;
  customer: { id: string; external_id: string };
  subscription: string;
}

const BASE = { type: 'FIXED', display_name: 'Base', unit_price: '31' };

/** A customer from 1 January 2026 on, with a base fee of 31.00 in advance and 0.10 for each unit. */
async function scene(charges: 'both' | 'fixed' | 'usage' = 'both', fields: object = {}): Promise<Scene> {
  const billing = await startInvoicing(weir);
  await billing.moveTo('2026-01-01T00:00:00Z');
  const meter = await billing.meter('SUM');
  const usage = { type: 'USAGE', display_name: 'Calls', meter_id: meter.id, unit_price: '0.1' };
  const priced = { both: [BASE, usage], fixed: [BASE], usage: [usage] }[charges];
  const plan = (await billing.plan(priced)).id;
  const customer = await billing.customer({ name: 'Acme', billing_address_city: 'Oslo' });
  const { id } = await billing.subscribe(plan, customer.id, { start_date: '2026-01-01', ...fields });
  return { billing, run: openRun(weir, billing.database), meter, plan, customer, subscription: id };
}

async function withScene(
  promise: (scene: Scene) => Promise<void>,
  ...options: Parameters<typeof scene>
): Promise<void> {
  const made = await scene(...options);
  try {
    await promise(made);
  } finally {
    // The clock of this database goes back for the next test: nothing of this one is to be due then.
    await weir.pool.query('UPDATE subscriptions SET run_at = NULL');
    await weir.pool.query('UPDATE invoices SET run_at = NULL, past_due_at = NULL');
    await made.billing.close();
  }
}

async function invoicesOf({ billing, subscription }: Scene) {
  const { data } = await billing.get(`/subscriptions/${subscription}/invoices?page_size=100`);
  return data.reverse();
}

async function finalizeAt(at: string, { billing, run }: Scene): Promise<void> {
  await billing.moveTo(at);
  await run.untilDone();
}

test('an invoice is finalized as its draft was read, with a number, dates and the customer', () =>
  withScene(async (made) => {
    const { billing, run, meter, customer, subscription } = made;
    await run.untilDone();
    await finalizeAt('2026-01-01T01:00:00Z', made);
    await billing.track([
      { meter, customer: customer.external_id, quantity: 100, at: '2026-01-31T23:59:59Z' },
      { meter, customer: customer.external_id, quantity: 7, at: '2026-02-01T00:00:00Z' },
    ]);
    await billing.request('PATCH', '/billing/settings', { invoice_issuer: 'Weir Ltd\n1 Main Street' });
    await billing.moveTo('2026-02-01T00:00:00Z');
    await run.once();
    const [draft] = await billing.drafts(subscription);
    const before = await billing.get(`/invoices/${draft?.id}`);
    expect(before).toMatchObject({ status: 'DRAFT', total: '41.00', invoice_number: null, issuer: null });
    await finalizeAt('2026-02-01T01:00:00Z', made);
    const after = await billing.get(`/invoices/${draft?.id}`);
    const withoutClosing = (lines: object[]) => lines.map((line) => ({ ...line, closing: null }));
    expect(withoutClosing(after.lines)).toEqual(before.lines);
    expect(after.lines).toMatchObject([
      { kind: 'USAGE', quantity: '100', event_count: 1, exact_amount: '10', billed_before: '0.00', amount: '10.00' },
      { kind: 'FIXED', quantity: null, exact_amount: '31', amount: '31.00', period_start: '2026-02-01T00:00:00.000Z' },
    ]);
    expect(after).toMatchObject({
      status: 'OPEN',
      invoice_number: 'INV-2026-000002',
      total: '41.00',
      amount_due: '41.00',
      issue_date: '2026-02-01',
      due_date: '2026-03-03',
      finalized_at: '2026-02-01T01:00:00.000Z',
      customer: { id: customer.id, name: 'Acme', billing_address_city: 'Oslo' },
      issuer: 'Weir Ltd\n1 Main Street',
    });
    await billing.request('PATCH', `/customers/${customer.id}`, { name: 'Other' });
    await billing.request('PATCH', '/billing/settings', { invoice_issuer: 'Somebody else' });
    expect(await billing.get(`/invoices/${draft?.id}`)).toEqual(after);
  }));

test('nothing is finalized before its grace is over, unless it is asked for', () =>
  withScene(async (made) => {
    const { billing, run } = made;
    await billing.moveTo('2026-01-01T00:59:59.999999Z');
    await run.once();
    const [draft] = await invoicesOf(made);
    expect(draft.status).toBe('DRAFT');
    const options = { actor: 'weir' };
    expect(await finalizeInvoices(billing.database, billing.admin.id, [draft.id], options)).toEqual({
      finalized: [],
      deleted: [],
      earlierDraft: [],
      notComputed: new Map(),
    });
    await finalizeInvoices(billing.database, billing.admin.id, [draft.id], { ...options, now: true });
    expect(await invoicesOf(made)).toMatchObject([{ status: 'OPEN' }]);
  }));

test('a line of zero usage is shown, and an invoice of zero is PAID in the moment it is finalized', () =>
  withScene(async (made) => {
    await made.billing.moveTo('2026-02-01T00:00:00Z');
    await made.run.once();
    await finalizeAt('2026-02-01T01:00:00Z', made);
    const [invoice, ...others] = await invoicesOf(made);
    expect(others).toEqual([]);
    expect(invoice).toMatchObject({ cycle: 1, status: 'PAID', total: '0.00', paid_at: invoice.finalized_at });
    const { lines } = await made.billing.get(`/invoices/${invoice.id}`);
    expect(lines).toMatchObject([{ kind: 'USAGE', quantity: '0', amount: '0.00' }]);
  }, 'usage'));

test('a total below zero is PAID and becomes a grant, which the next invoice draws', () =>
  withScene(async (made) => {
    const { billing, run, customer } = made;
    const [draft] = await invoicesOf(made);
    await billing.post(`/invoices/${draft.id}/lines`, { description: 'Sorry', amount: '-51' }, 201);
    await finalizeAt('2026-01-01T01:00:00Z', made);
    const [negative] = await invoicesOf(made);
    expect(negative).toMatchObject({ status: 'PAID', total: '-20.00', credits_applied: '0.00', amount_due: '0.00' });
    const credits = await billing.get(`/customers/${customer.id}/credits`);
    expect(credits).toMatchObject({ balance: { USD: '20.00' }, grants: [{ amount: '20.00' }] });
    await billing.moveTo('2026-02-01T00:00:00Z');
    await run.once();
    await finalizeAt('2026-02-01T01:00:00Z', made);
    const [, drawn] = await invoicesOf(made);
    expect(drawn).toMatchObject({ status: 'OPEN', total: '31.00', credits_applied: '20.00', amount_due: '11.00' });
  }, 'fixed'));

test('credits that cover an invoice pay it', () =>
  withScene(async (made) => {
    const { billing, customer } = made;
    await billing.post(`/customers/${customer.id}/credits`, { amount: '31', currency: 'USD' }, 201);
    await finalizeAt('2026-01-01T01:00:00Z', made);
    expect(await invoicesOf(made)).toMatchObject([{ status: 'PAID', credits_applied: '31.00', amount_due: '0.00' }]);
  }, 'fixed'));

test('a cancellation gives back the unused part of what was billed in advance, of the same due', () =>
  withScene(async (made) => {
    const { billing, subscription } = made;
    await finalizeAt('2026-01-01T01:00:00Z', made);
    await billing.moveTo('2026-01-10T12:00:00Z');
    await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
    await finalizeAt('2026-01-10T13:00:00Z', made);
    const [first, last] = await invoicesOf(made);
    expect(last).toMatchObject({ cycle: 1, status: 'PAID', total: '-21.00' });
    const { lines } = await billing.get(`/invoices/${last.id}`);
    expect(lines).toMatchObject([
      { kind: 'USAGE', quantity: '0' },
      { kind: 'FIXED', days: '10/31', exact_amount: '10', billed_before: '31.00', amount: '-21.00' },
    ]);
    expect(first.total).toBe('31.00');
  }));

test('canceled while the invoice in advance is a draft, that draft is of the days, and nothing comes back', () =>
  withScene(async (made) => {
    const { billing, subscription } = made;
    // Not at the first instant of the date, which a cancellation leaves out.
    await billing.moveTo('2026-01-01T00:30:00Z');
    await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
    await finalizeAt('2026-01-01T01:00:00Z', made);
    const [first, ...others] = await invoicesOf(made);
    expect(first).toMatchObject({ cycle: 0, total: '1.00' });
    for (const { id } of others) {
      const { lines } = await billing.get(`/invoices/${id}`);
      expect(lines.filter(({ kind }: { kind: string }) => kind === 'FIXED')).toEqual([]);
    }
  }));

/** A draft that comes to no line; it stands until it is finalized. */
async function draftOfNothing(made: Scene): Promise<void> {
  const { billing, subscription } = made;
  await finalizeAt('2026-01-01T01:00:00Z', made);
  // On the last day all of the period is in force.
  await billing.moveTo('2026-01-31T12:00:00Z');
  await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
  const { rows } = await weir.pool.query(
    `INSERT INTO invoices (organization_id, id, kind, status, subscription_id, customer_id, cycle, currency, period_start,
       period_end, finalizes_at, run_at)
     SELECT organization_id, gen_random_uuid(), kind, 'DRAFT', subscription_id, customer_id, 1, currency, period_start,
       billing_now(), billing_now(), billing_now() FROM invoices WHERE subscription_id = $1 AND cycle = 0
     ON CONFLICT DO NOTHING RETURNING id`,
    [subscription],
  );
  expect(rows.length).toBeLessThanOrEqual(1);
}

test.each([{}, { 'idempotency-key': 'finalize nothing' }])(
  'a draft that comes to no line is gone when it is finalized: 404, and the audit log has it: %o',
  (headers) =>
    withScene(async (made) => {
      await draftOfNothing(made);
      const { session } = made.billing.admin;
      const [, { id }] = await invoicesOf(made);
      const finalize = () => weir.request('POST', `/api/v1/invoices/${id}/finalize`, { session, headers });
      expectProblem(await finalize(), 404, 'not_found');
      expect(await invoicesOf(made)).toMatchObject([{ cycle: 0 }]);
      // It is gone, and nothing comes of this one.
      expectProblem(await finalize(), 404, 'not_found');
      const { data } = await made.billing.get('/audit-log?action=invoice.finalize');
      expect(data).toMatchObject([{ resource_id: id, outcome: 'done' }]);
    }, 'fixed'),
);

test('an invoice that comes to no line is not made', () =>
  withScene(async (made) => {
    const { billing } = made;
    await draftOfNothing(made);
    expect(await invoicesOf(made)).toMatchObject([{ cycle: 0 }, { cycle: 1, status: 'DRAFT', total: '0.00' }]);
    await finalizeAt('2026-01-31T13:00:00Z', made);
    expect(await invoicesOf(made)).toMatchObject([{ cycle: 0 }]);
    const { rows: numbers } = await weir.pool.query(
      'SELECT last_number FROM invoice_numbers WHERE organization_id = $1',
      [billing.admin.id],
    );
    expect(numbers).toEqual([{ last_number: '1' }]);
  }, 'fixed'));

test('an invoice of a later cycle waits for those of earlier ones, and gets a later number', () =>
  withScene(async (made) => {
    const { billing, subscription } = made;
    await billing.moveTo('2026-02-01T00:00:00Z', subscription);
    const [first, second] = await invoicesOf(made);
    const options = { actor: 'weir', now: true };
    expect(await finalizeInvoices(billing.database, billing.admin.id, [second.id], options)).toEqual({
      finalized: [],
      deleted: [],
      earlierDraft: [second.id],
      notComputed: new Map(),
    });
    const ids = [second.id, first.id];
    expect(await finalizeInvoices(billing.database, billing.admin.id, ids, options)).toMatchObject({
      finalized: [first.id, second.id],
      earlierDraft: [],
    });
    expect(await invoicesOf(made)).toMatchObject([
      { cycle: 0, invoice_number: 'INV-2026-000001' },
      { cycle: 1, invoice_number: 'INV-2026-000002' },
    ]);
  }, 'fixed'));

test('numbers and issue dates do not go back when the organization moves to the west at New Year', () =>
  withScene(async (made) => {
    const { billing, plan } = made;
    const issueAt = async (at: string, timeZone: string) => {
      await billing.request('PATCH', '/billing/settings', { time_zone: timeZone });
      await billing.moveTo(new Date(Date.parse(at) - 3_600_000).toISOString());
      await billing.subscribe(plan, (await billing.customer()).id);
      await finalizeAt(at, made);
    };
    await issueAt('2026-12-31T18:00:00Z', 'Asia/Tokyo');
    await issueAt('2026-12-31T20:00:00Z', 'America/Los_Angeles');
    await issueAt('2027-01-01T20:00:00Z', 'America/Los_Angeles');
    await issueAt('2027-01-02T20:00:00Z', 'America/Los_Angeles');
    const { rows } = await weir.pool.query<{ invoice_number: string; issue_date: string }>(
      `SELECT invoice_number, issue_date::text FROM invoices WHERE organization_id = $1 AND finalized_at > '2026-12-31T17:00Z'
       ORDER BY finalized_at, invoice_number`,
      [billing.admin.id],
    );
    expect(rows[0]).toEqual({ invoice_number: 'INV-2027-000001', issue_date: '2027-01-01' });
    expect(rows.at(-1)?.issue_date).toBe('2027-01-02');
    expect(rows.map(({ issue_date }) => issue_date)).toEqual(rows.map(({ issue_date }) => issue_date).toSorted());
    expect(rows.map(({ invoice_number }) => invoice_number)).toEqual(
      rows.map((_, index) => `INV-2027-${String(index + 1).padStart(6, '0')}`),
    );
  }, 'fixed'));

test('the year of a number is that of issue in the zone of the organization, and each year counts from 1', () =>
  withScene(async (made) => {
    const { billing, run, plan } = made;
    await billing.request('PATCH', '/billing/settings', { time_zone: 'Asia/Tokyo', invoice_prefix: 'TYO' });
    for (const at of ['2026-12-31T12:00:00Z', '2026-12-31T13:00:00Z']) await finalizeAt(at, made);
    const begun = async (at: string) => {
      await billing.moveTo(at);
      return (await billing.subscribe(plan, (await billing.customer()).id)).id;
    };
    // Finalized an hour later, which is 23:59:59 and 0:00 in Tokyo.
    const subscriptions = [await begun('2026-12-31T13:59:59Z'), await begun('2026-12-31T14:00:00Z')];
    await finalizeAt('2026-12-31T14:59:59Z', made);
    await finalizeAt('2026-12-31T15:00:00Z', made);
    await billing.moveTo('2027-01-01T00:00:00Z');
    await run.once();
    await finalizeAt('2027-01-01T01:00:00Z', made);
    const { rows } = await weir.pool.query(
      `SELECT invoice_number, issue_date::text, due_date::text, past_due_at FROM invoices
       WHERE organization_id = $1 ORDER BY finalized_at DESC, invoice_number LIMIT 3`,
      [billing.admin.id],
    );
    expect(subscriptions).toHaveLength(2);
    expect(rows).toEqual([
      {
        invoice_number: 'TYO-2027-000002',
        issue_date: '2027-01-01',
        due_date: '2027-01-31',
        past_due_at: new Date('2027-01-31T15:00:00Z'),
      },
      {
        invoice_number: 'TYO-2027-000001',
        issue_date: '2027-01-01',
        due_date: '2027-01-31',
        past_due_at: new Date('2027-01-31T15:00:00Z'),
      },
      {
        invoice_number: 'TYO-2026-000013',
        issue_date: '2026-12-31',
        due_date: '2027-01-30',
        past_due_at: new Date('2027-01-30T15:00:00Z'),
      },
    ]);
  }, 'fixed'));

test('a chunk reads its own drafts, however many more there are than Postgres believes', () =>
  withScene(async (made) => {
    const { billing, subscription } = made;
    await billing.moveTo('2026-01-01T01:00:00Z', subscription);
    const [draft] = await invoicesOf(made);
    // As at a midnight: the statistics are of before it, and nobody has looked at the table since.
    const client = await weir.pool.connect();
    const copyInvoices = (changes: string) =>
      client.query(
        `INSERT INTO invoices SELECT copy.* FROM invoices i, subscriptions s, jsonb_populate_record(i, jsonb_build_object(
           'id', gen_random_uuid(), 'subscription_id', s.id, 'run_at', null) || ${changes}) AS copy
         WHERE i.id = $1 AND s.organization_id = i.organization_id AND s.id <> i.subscription_id`,
        [draft.id],
      );
    await client.query(
      copyRows('subscriptions', `'id', md5(t.id::text || n)::uuid`, { times: 3_000, where: 't.id = $1' }),
      [subscription],
    );
    await copyInvoices(`jsonb_build_object('status', 'PAID', 'invoice_number', gen_random_uuid())`);
    await client.query('ANALYZE invoices, subscriptions');
    await client.query('ALTER TABLE invoices SET (autovacuum_enabled = off)');
    await copyInvoices(`jsonb_build_object('cycle', 1)`);
    const { rows: some } = await client.query(
      `SELECT id FROM invoices WHERE organization_id = $1 AND cycle = 1 AND status = 'DRAFT' LIMIT 100`,
      [billing.admin.id],
    );
    const chunk = [draft.id, ...some.map(({ id }) => id)];
    await client.query('SELECT pg_stat_force_next_flush()');
    client.release();
    const before = await readingOfInvoices();
    // Its connection tells what it read when it ends.
    const database = openTestDatabase(weir, 1);
    const { finalized, deleted } = await finalizeInvoices(database, billing.admin.id, chunk, {
      actor: 'weir',
      now: true,
    });
    await database.close();
    await weir.pool.query('ALTER TABLE invoices RESET (autovacuum_enabled)');
    // The others have no dues.
    expect([finalized.length, deleted.length]).toEqual([1, 100]);
    await until(async () => (await readingOfInvoices()).written > before.written, 'it is told what was read');
    const { read } = await readingOfInvoices();
    expect(read - before.read).toBeLessThan(3_000);
  }, 'fixed'));

/** Rows of invoices that were read and written so far. */
async function readingOfInvoices(): Promise<{ read: number; written: number }> {
  const { rows } = await weir.pool.query(
    `SELECT (seq_tup_read + idx_tup_fetch)::integer AS read, n_tup_upd::integer AS written
     FROM pg_stat_user_tables WHERE relname = 'invoices'`,
  );
  return rows[0];
}

test('drafts that are finalized ten times at once are each finalized once', () =>
  withScene(async (made) => {
    const { billing, subscription } = made;
    await billing.moveTo('2026-06-01T00:00:00Z', subscription);
    const drafts = await invoicesOf(made);
    const ids = drafts.map(({ id }: { id: string }) => id);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        finalizeInvoices(billing.database, billing.admin.id, ids, { actor: 'weir', now: index % 2 === 0 }),
      ),
    );
    // The grace of the last one is not over: who waits for it may be first and leave that one to another.
    expect(answers.flatMap(({ finalized }) => finalized).sort()).toEqual(ids.sort());
    const { rows } = await weir.pool.query('SELECT last_number FROM invoice_numbers WHERE organization_id = $1', [
      billing.admin.id,
    ]);
    expect(rows).toEqual([{ last_number: '6' }]);
  }, 'fixed'));
