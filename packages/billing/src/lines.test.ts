import { describe, expect, test } from 'vitest';
import { fixed, perUnit } from './due.fixture.ts';
import { inOneGo } from './drive.ts';
import { dueKey, type Due, type DueUsage } from './due.ts';
import type { DueOfInvoice } from './dues-of-invoices.ts';
import { computeLines, returningDue, withReturnable, type ComputedLine } from './lines.ts';

const invoice = { id: 'invoice', kind: 'SUBSCRIPTION', subscription_id: 'sub', cycle: 1, currency: 'EUR' } as const;

interface Read {
  usage?: [Due, DueUsage][];
  returnable?: [Due, bigint][];
  closing?: number;
}

async function compute(parts: DueOfInvoice[], read: Read = {}): Promise<ComputedLine[]> {
  const usage = new Map(read.usage);
  const lines = await inOneGo(computeLines({ invoice, from: 0, parts }, usage, read.closing ?? null));
  const returnable = new Map(read.returnable?.map(([due, amount]) => [dueKey(due), amount]));
  return await inOneGo(withReturnable(lines, 'USD', usage, returnable));
}

describe('a line', () => {
  test('is what its due comes to, with the digits of the currency, and the exact amount beside it', async () => {
    const due = perUnit('calls', '0.015');
    const usage: DueUsage = { quantity: '333', eventCount: 40 };
    const lines = await compute([{ kind: 'USAGE', due }], { usage: [[due, usage]], closing: 7 });
    expect(lines).toMatchObject([
      {
        position: 0,
        kind: 'USAGE',
        quantity: '333',
        event_count: '40',
        exact_amount: '4.995',
        amount: '5.00',
        billed: '5.00',
        closing: '7',
      },
    ]);
  });

  test('is the difference to what was billed before, and takes away where that was more', async () => {
    const due = fixed('seat', 'in_advance', '31', {
      billed: '31.00',
      closing: '1',
      days_in_force: 10,
      days_in_period: 31,
    });
    const lines = await compute([{ kind: 'FIXED', due }]);
    expect(lines).toMatchObject([
      { billed_before: '31.00', exact_amount: '10', amount: '-21.00', billed: '10.00', waived: null },
    ]);
    expect(lines.map(returningDue)).toEqual([due]);
  });

  test('gives back no more than was asked for, and says what it waives', async () => {
    const due = fixed('seat', 'in_advance', '31', {
      billed: '31.00',
      closing: '1',
      days_in_force: 10,
      days_in_period: 31,
    });
    const lines = await compute([{ kind: 'FIXED', due }], { returnable: [[due, 500n]] });
    expect(lines).toMatchObject([{ amount: '-5.00', waived: '16.00' }]);
  });

  test('has the place that the slice has which it is in', async () => {
    const parts: DueOfInvoice[] = ['a', 'b'].map((id) => ({ kind: 'FIXED', due: fixed(id, 'in_advance', '1') }));
    const lines = await inOneGo(computeLines({ invoice, from: 500, parts }, new Map(), null));
    expect(lines.map(({ position }) => position)).toEqual([500, 501]);
  });

  test('keeps its id from draft to invoice, and each due of an invoice has its own', async () => {
    const parts: DueOfInvoice[] = ['a', 'b'].map((id) => ({ kind: 'FIXED', due: fixed(id, 'in_advance', '1') }));
    const [draft, finalized] = [await compute(parts), await compute(parts, { closing: 3 })];
    expect(draft.map(({ id }) => id)).toEqual(finalized.map(({ id }) => id));
    expect(new Set(draft.map(({ id }) => id)).size).toBe(2);
    for (const { id } of draft) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });
});
