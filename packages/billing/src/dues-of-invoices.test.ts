import { describe, expect, test } from 'vitest';
import { fixed, perUnit } from './due.fixture.ts';
import type { Due, LateDue } from './due.ts';
import { cycleKey, duesOf, periodsOf, takersOfLate, type InvoiceToCompute } from './dues-of-invoices.ts';
import { groupBy } from './group-by.ts';

function invoice(cycle: number | null, more: Partial<InvoiceToCompute> = {}): InvoiceToCompute {
  return { id: `invoice ${cycle}`, kind: 'SUBSCRIPTION', subscription_id: 'sub', cycle, currency: 'EUR', ...more };
}

/** As a due is named that is to be settled once more. */
function named({ subscription_id, cycle, charge_id, terms: { type }, rebilling }: Due): LateDue {
  return { subscription_id, cycle, charge_id, type, rebilling };
}

const kindsOf = (cycle: number | null, dues: Due[], late: Due[] = []) =>
  duesOf(invoice(cycle), groupBy(dues, cycleKey), late.map(named)).map(({ kind, due }) => [
    kind,
    due.cycle,
    due.charge_id,
  ]);

describe('the dues of an invoice', () => {
  test('are those of the period that ends, and of the one that begins what is in advance', () => {
    const dues = [0, 1, 2].flatMap((cycle) => [
      perUnit('calls', '1', { cycle }),
      fixed('seat', 'in_advance', '10', { cycle }),
      fixed('support', 'in_arrears', '5', { cycle }),
    ]);
    expect(kindsOf(1, dues)).toEqual([
      ['USAGE', 0, 'calls'],
      ['FIXED', 0, 'support'],
      ['FIXED', 1, 'seat'],
    ]);
  });

  test('have what was billed in advance again where its period was cut, and not where it was not', () => {
    const seat = (more: Partial<Due>) => fixed('seat', 'in_advance', '31', { billed: '31.00', closing: '1', ...more });
    expect(kindsOf(1, [seat({})])).toEqual([]);
    expect(kindsOf(1, [seat({ days_in_force: 10, days_in_period: 31 })])).toEqual([['FIXED', 0, 'seat']]);
  });

  test('after the end are late changes alone, and what is to be billed again keeps its kind', () => {
    const late = [perUnit('calls', '1'), fixed('seat', 'in_advance', '10', { rebilling: true })];
    expect(kindsOf(null, [], late)).toEqual([
      ['LATE_USAGE', 0, 'calls'],
      ['FIXED', 0, 'seat'],
    ]);
  });

  test('have each due once, also one that is late and cut', () => {
    const cut = fixed('seat', 'in_advance', '31', {
      billed: '31.00',
      closing: '1',
      days_in_force: 10,
      days_in_period: 31,
      rebilling: true,
    });
    expect(kindsOf(1, [cut], [cut])).toEqual([['FIXED', 0, 'seat']]);
  });
});

test('a period that ends with one invoice and begins with another is asked for as a whole', () => {
  for (const asked of [
    [invoice(1), invoice(2), invoice(null)],
    [invoice(2), invoice(1)],
  ])
    expect(periodsOf(asked).sort((one, other) => one.cycle - other.cycle)).toEqual([
      { subscription_id: 'sub', cycle: 0, inAdvanceOnly: false },
      { subscription_id: 'sub', cycle: 1, inAdvanceOnly: false },
      { subscription_id: 'sub', cycle: 2, inAdvanceOnly: true },
    ]);
});

describe('late changes', () => {
  const late = [perUnit('b', '1', { cycle: 1 }), perUnit('a', '1', { cycle: 1 }), perUnit('z', '1', { cycle: 0 })].map(
    named,
  );

  test('are taken by the first draft of their subscription alone, in the order of periods and charges', () => {
    const taken = takersOfLate([invoice(3), invoice(2)], late, new Map([['sub', 2]]));
    expect([...taken].map(([id, dues]) => [id, dues.map(({ charge_id }) => charge_id)])).toEqual([
      ['invoice 2', ['z', 'a', 'b']],
    ]);
  });

  test('are taken by what is asked about where there is no draft, once', () => {
    const taken = takersOfLate([invoice(null, { id: 'one' }), invoice(null, { id: 'two' })], late, new Map());
    expect([taken.get('one')?.length, taken.get('two')?.length]).toEqual([3, 0]);
  });

  test('wait for the first draft where another one is asked about', () => {
    expect(takersOfLate([invoice(3)], late, new Map([['sub', 2]])).size).toBe(0);
  });

  test('of another subscription are of no concern', () => {
    const taken = takersOfLate(
      [invoice(2)],
      [named(perUnit('a', '1', { subscription_id: 'other' }))],
      new Map([['sub', 2]]),
    );
    expect(taken.get('invoice 2')).toEqual([]);
  });
});
