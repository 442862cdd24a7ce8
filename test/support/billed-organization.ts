// An organization in which everything that can become of an event and of an invoice has happened, with rows as the run leaves
// them: real events, recorded before and after closings, and everything of billing written by hand.

import type { Database } from '@weir/db/database';
import { newId } from '@weir/shared/ids';
import { openTestDatabase } from './test-database.ts';
import { makeTenant, type Tenant } from './reconcile-fixture.ts';
import type { Weir } from './harness.ts';

export interface Billed {
  tenant: Tenant;
  /** Counts events; `tenant.sum` adds up quantities, and `tenant.users` is priced by no plan. */
  count: { id: string; token: string };
  ids: Record<
    'acme' | 'beta' | 'planA' | 'planB' | 'usageA' | 'fixedA' | 'usageB' | 'fixedB' | 'subscriptionA' | 'subscriptionB',
    string
  >;
  /** In the order of their numbers, from 1. */
  invoices: string[];
  grants: { drawn: string; voided: string; negative: string };
}

/**
 * Customer acme is on plan A: trial from 10 January 12:00, periods from 15 January on, the third of which is open. Customer beta
 * is on plan B from 1 January, and was canceled on 10 February. 10 events of the meter of sums are of January, by what becomes of
 * them 4 billed, 2 trial, 1 before_start, 1 not_priced and 2 no_subscription.
 */
export async function makeBilled(weir: Weir): Promise<Billed> {
  const tenant = await makeTenant(weir);
  const count = await tenant.createMeter('COUNT');
  const names = [
    'acme',
    'beta',
    'planA',
    'planB',
    'usageA',
    'fixedA',
    'usageB',
    'fixedB',
    'subscriptionA',
    'subscriptionB',
  ] as const;
  const ids = Object.fromEntries(names.map((name) => [name, newId()])) as Billed['ids'];
  const billed: Billed = {
    tenant,
    count,
    ids,
    invoices: Array.from({ length: 5 }, newId),
    grants: { drawn: newId(), voided: newId(), negative: newId() },
  };
  const rows = rowsOf(billed);
  await track(billed, [
    ['acme', '2026-01-05'],
    ...times(2, ['acme', '2026-01-12']),
    ...times(3, ['acme', '2026-01-20']),
    ...times(2, ['acme', '2026-02-03']),
    ...times(2, ['acme', '2026-02-20']),
    ...times(2, ['acme', '2026-03-01']),
    ...times(6, ['acme', '2026-03-20']),
    ['acme', '2026-04-20'],
    ['beta', '2026-01-12'],
    ...times(2, ['nobody', '2026-01-12']),
    ['acme', '2026-01-12', count.token],
    ['acme', '2026-01-20', count.token],
    ...times(3, ['beta', '2026-01-20', count.token]),
    ['beta', '2026-02-05', count.token],
    ...times(2, ['beta', '2026-02-12', count.token]),
    ['acme', '2026-01-20', tenant.users.token],
  ]);
  await weir.drained();
  await insert(weir, tenant.id, 'closings', [{ number: 2, until: '2026-02-15', closed_at: '2026-02-15T01:00Z' }]);
  await track(billed, [['acme', '2026-01-25']]);
  await weir.drained();
  await weir.pool.query(`UPDATE closings SET number = 3, until = '2026-03-15' WHERE organization_id = $1`, [tenant.id]);
  await track(billed, [['acme', '2026-02-04'], ...times(2, ['acme', '2026-03-01'])]);
  await weir.drained();
  for (const [table, own] of Object.entries(rows)) await insert(weir, tenant.id, table, own);
  return billed;
}

/** One connection, so that what is looked at is in the transaction of whoever planted it. */
export function openForPlanting(weir: Weir): Database {
  return openTestDatabase(weir, 1);
}

/** Plants something wrong, looks, and takes it back. In the text, `:acme` and other names of ids stand for them. */
export async function planted<Result>(
  database: Database,
  billed: Billed,
  text: string,
  look: () => Promise<Result>,
): Promise<Result> {
  await database.pool.query('BEGIN');
  try {
    await database.pool.query(named(billed, text));
    return await look();
  } finally {
    await database.pool.query('ROLLBACK');
  }
}

function named({ tenant, count, ids, invoices, grants }: Billed, text: string): string {
  const names: Record<string, string | undefined> = {
    ...ids,
    organization: tenant.id,
    sum: tenant.sum.id,
    count: count.id,
    ...Object.fromEntries(invoices.map((id, index) => [`invoice${index + 1}`, id])),
    ...grants,
  };
  return text.replaceAll(/(?<!:):([a-z]\w*)/gi, (_, name: string) => {
    const id = names[name];
    if (id === undefined) throw new Error(`no id is called ${name}`);
    return `'${id}'::uuid`;
  });
}

type Tracked = [customer: string, date: string, meterToken?: string];

function times(count: number, event: Tracked): Tracked[] {
  return Array.from({ length: count }, () => event);
}

async function track({ tenant }: Billed, events: Tracked[]): Promise<void> {
  const answers = await tenant.track(
    ...events.map(([customer_external_id, date, meter_token = tenant.sum.token]) => {
      const metadata = { user_id: 'one' };
      return { customer_external_id, timestamp: `${date}T12:00:00Z`, quantity: 1.5, meter_token, metadata };
    }),
  );
  const refused = answers.find(({ status }) => status !== 201);
  if (refused !== undefined) throw new Error(`an event was answered ${refused.status}`);
}

type Row = Record<string, unknown>;

/** The rows of one call have the same columns. */
async function insert(weir: Weir, organizationId: string, table: string, rows: Row[]): Promise<void> {
  const all = rows.map((row) => ({ organization_id: organizationId, ...row }));
  const columns = Object.keys(all[0] ?? {}).join(', ');
  await weir.pool.query(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1)`,
    [JSON.stringify(all)],
  );
}

const DAYS_A = ['2026-01-15', '2026-02-15', '2026-03-15', '2026-04-15'];
const DAYS_B = ['2026-01-01', '2026-02-01', '2026-02-10'];
/** Of plan B's second period. */
const CUT = { days_in_force: 10, days_in_period: 28 };
const WHOLE = { days_in_force: null, days_in_period: null };

/** By table, in the order in which they refer to each other. */
function rowsOf(billed: Billed): Record<string, Row[]> {
  const { ids, invoices, grants } = billed;
  return {
    customers: ['acme', 'beta'].map((name) => ({ id: ids[name as 'acme' | 'beta'], external_id: name, metadata: {} })),
    plans: ['planA', 'planB'].map((name) => ({
      id: ids[name as 'planA' | 'planB'],
      name,
      lookup_id: name,
      type: 'HYBRID',
      billing_interval: 'month',
      currency: 'USD',
      trial_days: 0,
      is_active: true,
    })),
    ...subscriptionRows(billed),
    ...dueRows(billed),
    ...invoiceRows(billed),
    invoice_numbers: [{ year: 2026, last_number: 5 }],
    credit_grants: [
      grant(ids.acme, { id: grants.drawn, amount: '1.00', remaining: '0.25' }),
      grant(ids.beta, { id: grants.voided, amount: '5.00', remaining: '0.00', voided_at: '2026-03-20T00:00Z' }),
      grant(ids.acme, { id: grants.negative, amount: '10.00', remaining: '10.00', invoice_id: invoices[4] }),
    ],
    credit_entries: [
      { id: newId(), grant_id: grants.drawn, kind: 'DRAW', amount: '0.75', invoice_id: invoices[3] },
      { id: newId(), grant_id: grants.voided, kind: 'DRAW', amount: '0.03', invoice_id: invoices[1] },
      { id: newId(), grant_id: grants.voided, kind: 'RETURN', amount: '0.03', invoice_id: invoices[1] },
      { id: newId(), grant_id: grants.voided, kind: 'VOID', amount: '5.00', invoice_id: null },
    ].map((row) => ({ ...row, created_at: '2026-03-15T01:00Z' })),
    billing_feeds: [{ last_sequence: 4 }],
    billing_events: [1, 2, 3, 4].map((sequence) => ({
      sequence,
      type: 'invoice.finalized',
      created_at: '2026-03-15T01:00Z',
      actor: 'weir',
      data: {},
    })),
  };
}

function grant(customer_id: string, row: Row): Row {
  return {
    customer_id,
    currency: 'USD',
    priority: 0,
    created_at: '2026-01-01T00:00Z',
    invoice_id: null,
    voided_at: null,
    ...row,
  };
}

function subscriptionRows({ tenant, count, ids }: Billed): Record<string, Row[]> {
  const charge = (id: string, plan_id: string, meter_id: string | null, terms: Row) => {
    const type = meter_id === null ? 'FIXED' : 'USAGE';
    const at = '2025-12-01T00:00Z';
    return { id, plan_id, meter_id, type, terms, display_name: id, created_at: at, effective_from: at };
  };
  const shared = {
    time_zone: 'UTC',
    currency: 'USD',
    billing_interval: 'month',
    billing_alignment: 'anniversary',
    anchor_cycle: 0,
    cancel_at_period_end: false,
  };
  const period = (subscription_id: string, plan_id: string, days: string[], cycle: number) => ({
    subscription_id,
    plan_id,
    cycle,
    period_start: days[cycle],
    period_end: days[cycle + 1],
    ...(subscription_id === ids.subscriptionB && cycle === 1 ? CUT : WHOLE),
    opened_at: `${days[cycle]}T00:00:30Z`,
  });
  return {
    charges: [
      charge(ids.usageA, ids.planA, tenant.sum.id, perUnit('0.1')),
      charge(ids.fixedA, ids.planA, null, { type: 'FIXED', timing: 'in_advance', unit_price: '20' }),
      charge(ids.usageB, ids.planB, count.id, perUnit('0.01')),
      charge(ids.fixedB, ids.planB, null, { type: 'FIXED', timing: 'in_arrears', unit_price: '10' }),
    ],
    subscriptions: [
      {
        ...shared,
        id: ids.subscriptionA,
        customer_id: ids.acme,
        customer_external_id: 'acme',
        plan_id: ids.planA,
        status: 'ACTIVE',
        start_at: '2026-01-10T12:00Z',
        trial_end_at: DAYS_A[0],
        anchor: DAYS_A[0],
        anchor_at: DAYS_A[0],
        cycle: 2,
        current_period_start: DAYS_A[2],
        current_period_end: DAYS_A[3],
        ended_at: null,
        closing: 3,
        created_at: '2026-01-10T12:00Z',
      },
      {
        ...shared,
        id: ids.subscriptionB,
        customer_id: ids.beta,
        customer_external_id: 'beta',
        plan_id: ids.planB,
        status: 'CANCELED',
        start_at: DAYS_B[0],
        trial_end_at: null,
        anchor: DAYS_B[0],
        anchor_at: DAYS_B[0],
        cycle: 1,
        current_period_start: DAYS_B[1],
        current_period_end: DAYS_B[2],
        ended_at: DAYS_B[2],
        closing: 2,
        created_at: '2026-01-01T00:00Z',
      },
    ],
    billed_meters: [
      { meter_id: tenant.sum.id, customer_external_id: 'acme', subscription_id: ids.subscriptionA, ended_at: null },
      { meter_id: count.id, customer_external_id: 'beta', subscription_id: ids.subscriptionB, ended_at: DAYS_B[2] },
    ],
    subscription_periods: [
      ...[0, 1, 2].map((cycle) => period(ids.subscriptionA, ids.planA, DAYS_A, cycle)),
      ...[0, 1].map((cycle) => period(ids.subscriptionB, ids.planB, DAYS_B, cycle)),
    ],
  };
}

function perUnit(unit_price: string): Row {
  const none = { included_units: null, minimum_amount: null, maximum_amount: null };
  return { type: 'USAGE', model: 'per_unit', unit_price, ...none };
}

function dueRows({ tenant, count, ids }: Billed): Record<string, Row[]> {
  const due = (
    kind: 'usageA' | 'fixedA' | 'usageB' | 'fixedB',
    cycle: number,
    closing: number | null,
    billed: string,
  ) => {
    const isA = kind.endsWith('A');
    const days = isA ? DAYS_A : DAYS_B;
    const terms = {
      usageA: perUnit('0.1'),
      fixedA: { type: 'FIXED', timing: 'in_advance', unit_price: '20' },
      usageB: perUnit('0.01'),
      fixedB: { type: 'FIXED', timing: 'in_arrears', unit_price: '10' },
    }[kind];
    return {
      subscription_id: isA ? ids.subscriptionA : ids.subscriptionB,
      cycle,
      charge_id: ids[kind],
      display_name: kind,
      terms,
      meter_id: { usageA: tenant.sum.id, usageB: count.id, fixedA: null, fixedB: null }[kind],
      customer_external_id: isA ? 'acme' : 'beta',
      period_start: days[cycle],
      period_end: days[cycle + 1],
      ...(!isA && cycle === 1 ? CUT : WHOLE),
      closing,
      billed,
    };
  };
  return {
    dues: [
      due('fixedA', 0, 1, '20.00'),
      due('usageA', 0, 3, '0.90'),
      due('fixedA', 1, 2, '20.00'),
      due('usageA', 1, 3, '0.60'),
      due('fixedA', 2, 3, '20.00'),
      due('usageA', 2, null, '0'),
      due('usageB', 0, 1, '0.03'),
      due('fixedB', 0, 1, '10.00'),
      due('usageB', 1, 2, '0.01'),
      due('fixedB', 1, 2, '3.57'),
    ],
  };
}

function invoiceRows({ ids, invoices }: Billed): Record<string, Row[]> {
  const of = (subscription: 'A' | 'B', cycle: number, index: number, row: Row) => {
    const days = subscription === 'A' ? DAYS_A : DAYS_B;
    return {
      id: invoices[index],
      kind: 'SUBSCRIPTION',
      subscription_id: subscription === 'A' ? ids.subscriptionA : ids.subscriptionB,
      customer_id: subscription === 'A' ? ids.acme : ids.beta,
      cycle,
      currency: 'USD',
      period_start: days[Math.max(0, cycle - 1)],
      period_end: days[cycle],
      finalizes_at: `${days[cycle]}T01:00Z`,
      finalized_at: `${days[cycle]}T01:00Z`,
      invoice_number: `INV-2026-00000${index + 1}`,
      issue_date: days[cycle],
      due_date: days[cycle],
      credits_applied: '0.00',
      amount_paid: '0.00',
      is_past_due: false,
      ...row,
    };
  };
  const line = (index: number, kind: string, name: keyof Billed['ids'], cycle: number, row: Row) => {
    const isA = name.endsWith('A');
    const days = isA ? DAYS_A : DAYS_B;
    return {
      id: newId(),
      invoice_id: invoices[index],
      position: 0,
      kind,
      description: name,
      subscription_id: isA ? ids.subscriptionA : ids.subscriptionB,
      cycle,
      charge_id: ids[name],
      period_start: days[cycle],
      period_end: days[cycle + 1],
      ...(!isA && cycle === 1 ? CUT : WHOLE),
      quantity: null,
      event_count: null,
      billed_before: '0.00',
      rating_version: 1,
      ...row,
    };
  };
  const adjustment = {
    ...line(4, 'ADJUSTMENT', 'acme', 0, { exact_amount: '-30.75', amount: '-30.75', closing: null, position: 3 }),
    subscription_id: null,
    cycle: null,
    charge_id: null,
    period_start: null,
    period_end: null,
  };
  const total = (amount: string) => ({ subtotal: amount, total: amount });
  const fixed = (closing: number) => ({ exact_amount: '20', amount: '20.00', closing, position: 1 });
  return {
    invoices: [
      of('A', 0, 0, { status: 'PAID', ...total('20.00'), amount_paid: '20.00' }),
      of('B', 1, 1, { status: 'VOID', ...total('10.03'), credits_applied: '0.03' }),
      of('B', 2, 2, { status: 'OPEN', ...total('3.58') }),
      of('A', 1, 3, { status: 'OPEN', ...total('20.75'), credits_applied: '0.75' }),
      of('A', 2, 4, { status: 'PAID', ...total('-10.00') }),
    ],
    payments: [{ id: newId(), invoice_id: invoices[0], amount: '20.00', paid_at: DAYS_A[1] }],
    invoice_lines: [
      line(0, 'FIXED', 'fixedA', 0, fixed(1)),
      line(1, 'USAGE', 'usageB', 0, { quantity: 3, event_count: 3, exact_amount: '0.03', amount: '0.03', closing: 1 }),
      line(1, 'FIXED', 'fixedB', 0, { exact_amount: '10', amount: '10.00', closing: 1, position: 1 }),
      line(2, 'USAGE', 'usageB', 1, { quantity: 1, event_count: 1, exact_amount: '0.01', amount: '0.01', closing: 2 }),
      line(2, 'FIXED', 'fixedB', 1, { exact_amount: '25/7', amount: '3.57', closing: 2, position: 1 }),
      line(3, 'USAGE', 'usageA', 0, {
        quantity: 7.5,
        event_count: 5,
        exact_amount: '0.75',
        amount: '0.75',
        closing: 2,
      }),
      line(3, 'FIXED', 'fixedA', 1, fixed(2)),
      line(4, 'USAGE', 'usageA', 1, { quantity: 6, event_count: 4, exact_amount: '0.6', amount: '0.60', closing: 3 }),
      line(4, 'FIXED', 'fixedA', 2, fixed(3)),
      line(4, 'LATE_USAGE', 'usageA', 0, {
        quantity: 9,
        event_count: 6,
        exact_amount: '0.9',
        billed_before: '0.75',
        amount: '0.15',
        closing: 3,
        position: 2,
      }),
      adjustment,
    ],
  };
}
