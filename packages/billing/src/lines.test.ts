import { RATING_VERSION } from '@weir/rating/rate';
import { describe, expect, test } from 'vitest';
import { inOneGo } from './drive.ts';
import { dueKey, type Due, type DueUsage } from './due.ts';
import type { DueOfInvoice } from './dues-of-invoices.ts';
import { computeInvoice, type Adjustment, type ComputedInvoice } from './lines.ts';

const DUE = {
  subscription_id: 'sub',
  cycle: 0,
  display_name: 'A price',
  meter_id: null,
  aggregation: null,
  customer_external_id: 'customer',
  period_start: '2026-01-01T00:00:00.000Z',
  period_end: '2026-02-01T00:00:00.000Z',
  days_in_force: null,
  days_in_period: null,
  closing: null,
  billed: '0.00',
  rebills: 0,
  rebilling: false,
} as const;

function fixed(
  charge_id: string,
  timing: 'in_advance' | 'in_arrears',
  unit_price: string,
  more: Partial<Due> = {},
): Due {
  return { ...DUE, charge_id, terms: { type: 'FIXED', timing, unit_price }, ...more };
}

function perUnit(charge_id: string, unit_price: string): Due {
  const bounds = { included_units: null, minimum_amount: null, maximum_amount: null };
  const terms = { type: 'USAGE', model: 'per_unit', unit_price, ...bounds } as const;
  return { ...DUE, charge_id, meter_id: 'meter', aggregation: 'SUM', terms };
}

const invoice = { id: 'invoice', kind: 'SUBSCRIPTION', subscription_id: 'sub', cycle: 1, currency: 'EUR' } as const;

const adjustment: Adjustment = {
  id: 'adjustment',
  invoice_id: 'invoice',
  kind: 'ADJUSTMENT',
  description: 'Goodwill',
  subscription_id: null,
  cycle: null,
  charge_id: null,
  period_start: null,
  period_end: null,
  days_in_force: null,
  days_in_period: null,
  quantity: null,
  event_count: null,
  exact_amount: '-5',
  billed_before: '0.00',
  amount: '-5.00',
  waived: null,
  rebills: 0,
  closing: null,
  rating_version: RATING_VERSION,
};

interface Read {
  usage?: [Due, DueUsage][];
  returnable?: [Due, bigint][];
  added?: Adjustment[];
  closing?: number;
}

async function compute(parts: DueOfInvoice[], read: Read = {}): Promise<ComputedInvoice> {
  const known = {
    usage: new Map(read.usage),
    returnable: new Map(read.returnable?.map(([due, amount]) => [dueKey(due), amount])),
  };
  return await inOneGo(computeInvoice(invoice, parts, read.added ?? [], known, read.closing ?? null));
}

describe('a line', () => {
  test('is what its due comes to, with the digits of the currency, and the exact amount beside it', async () => {
    const due = perUnit('calls', '0.015');
    const usage: DueUsage = { quantity: '333', eventCount: 40 };
    const { lines, total } = await compute([{ kind: 'USAGE', due }], { usage: [[due, usage]], closing: 7 });
    expect(lines).toMatchObject([
      {
        position: 0,
        kind: 'USAGE',
        quantity: '333',
        event_count: '40',
        exact_amount: '4.995',
        amount: '5.00',
        closing: '7',
      },
    ]);
    expect(total).toBe(500n);
  });

  test('is the difference to what was billed before, and takes away where that was more', async () => {
    const due = fixed('seat', 'in_advance', '31', {
      billed: '31.00',
      closing: '1',
      days_in_force: 10,
      days_in_period: 31,
    });
    const { lines, total } = await compute([{ kind: 'FIXED', due }]);
    expect(lines).toMatchObject([{ billed_before: '31.00', exact_amount: '10', amount: '-21.00', waived: null }]);
    expect(total).toBe(-2100n);
  });

  test('gives back no more than was asked for, and says what it waives', async () => {
    const due = fixed('seat', 'in_advance', '31', {
      billed: '31.00',
      closing: '1',
      days_in_force: 10,
      days_in_period: 31,
    });
    const { lines } = await compute([{ kind: 'FIXED', due }], { returnable: [[due, 500n]] });
    expect(lines).toMatchObject([{ amount: '-5.00', waived: '16.00' }]);
  });

  test('keeps its id from draft to invoice, and each due of an invoice has its own', async () => {
    const parts: DueOfInvoice[] = ['a', 'b'].map((id) => ({ kind: 'FIXED', due: fixed(id, 'in_advance', '1') }));
    const [draft, finalized] = [await compute(parts), await compute(parts, { closing: 3 })];
    expect(draft.lines.map(({ id }) => id)).toEqual(finalized.lines.map(({ id }) => id));
    expect(new Set(draft.lines.map(({ id }) => id)).size).toBe(2);
    for (const { id } of draft.lines)
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });
});

test('adjustments stand after the lines of dues and count for the total as they are', async () => {
  const { lines, subtotal, total } = await compute([{ kind: 'FIXED', due: fixed('seat', 'in_advance', '20') }], {
    added: [adjustment],
  });
  expect(lines.map(({ position, kind, amount }) => [position, kind, amount])).toEqual([
    [0, 'FIXED', '20.00'],
    [1, 'ADJUSTMENT', '-5.00'],
  ]);
  expect([subtotal, total]).toEqual([1500n, 1500n]);
});
