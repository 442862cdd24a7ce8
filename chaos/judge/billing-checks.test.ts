import { describe, expect, test } from 'vitest';
import { linesBillWhatWasSent } from './billed-usage.ts';
import { changesOfBillingAreKept, pagesOfTheFeedAreKept } from './billing-kept.ts';
import { nothingIsDue, periodsEndAtMidnights } from './billing-schedule.ts';
import type { Check } from './check.ts';
import { paymentsAreKept } from './payments-kept.ts';
import { madeUpBilling, type MadeUpBilling } from './made-up-billing.ts';
import { idOf } from './made-up-run.ts';

const CHECKS: Record<string, (billing: MadeUpBilling) => Check> = {
  'billed lines': ({ state, sent }) => linesBillWhatWasSent(state, sent()),
  'billed in time': ({ state }) => nothingIsDue(state),
  periods: ({ state }) => periodsEndAtMidnights(state),
  feed: ({ state, run }) => pagesOfTheFeedAreKept(state, run.facts),
  payments: ({ state, run }) => paymentsAreKept(state, run.facts),
  'billing kept': ({ state, run }) => changesOfBillingAreKept(state, run.facts),
};

/** The checks that find something, by name. */
function findersOf(spoil: (billing: MadeUpBilling) => void): string[] {
  const billing = madeUpBilling();
  spoil(billing);
  return Object.entries(CHECKS).flatMap(([name, check]) => (check(billing).violations > 0 ? [name] : []));
}

/** One of a list, which is there. */
function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new RangeError(`there is no ${index}`);
  return found;
}

const answered = (billing: MadeUpBilling, operation: 'billing' | 'feed', subject: string, body: unknown) =>
  billing.run.exchange([], { operation, subject, status: 200, body, expect: [200] });

test('each check has its name, looks at something, and finds nothing where all is right', () => {
  const billing = madeUpBilling();
  answered(billing, 'billing', 'finalize first', {
    id: 'first',
    status: 'OPEN',
    invoice_number: 'INV-2026-000001',
    total: '1.12',
  });
  answered(billing, 'feed', '0', [{ sequence: 1, type: 'invoice.finalized' }]);
  for (const [name, make] of Object.entries(CHECKS)) {
    const check = make(billing);
    expect(check.name).toBe(name);
    expect(check.examples).toEqual([]);
    expect(check.examined, name).toBeGreaterThan(0);
  }
});

const SPOILED: [string, string[], (billing: MadeUpBilling) => void][] = [
  // What a closing that is read too early does: the event is in no line, and late for none.
  ['an event in no line and not late', ['billed lines'], ({ state }) => state.late.pop()],
  [
    'an event that is billed and late as well',
    ['billed lines'],
    ({ state }) => state.late.push({ event: idOf(1), closing: 2 }),
  ],
  [
    'an event that is late for another closing than its line says',
    ['billed lines'],
    ({ state }) => (at(state.late, 0).closing = 0),
  ],
  [
    'an event that is void for all closings, and in a line',
    ['billed lines'],
    ({ run }) => run.state.corrections.set(idOf(1), { id: idOf(9), amendedBy: null }),
  ],
  ['a quantity off by the last digit', ['billed lines'], ({ state }) => (at(state.lines, 3).quantity = '2.01')],
  ['a wrong count of events', ['billed lines'], ({ state }) => (at(state.lines, 0).eventCount = 3)],
  ['an open due that tells too little', ['billed lines'], ({ state }) => (at(state.open, 0).quantity = '2')],
  ['an open due of which nothing is told', ['billed lines'], ({ state }) => state.open.pop()],
  ['a draft past its grace', ['billed in time'], ({ state }) => (at(state.invoices, 1).isDue = true)],
  ['a boundary that nobody passed', ['billed in time'], ({ state }) => (at(state.subscriptions, 0).isDue = true)],
  [
    'a payment that counts twice, under one reference',
    ['payments'],
    ({ state }) => (at(state.payments, 1).isTakenBack = false),
  ],
  ['a boundary at no midnight', ['periods'], ({ state }) => (at(state.periods, 0).end = '2026-11-20T00:00:00.000000Z')],
];

describe('is found, by the checks that it belongs to', () => {
  test.each(SPOILED)('%s', (_, finders, spoil) => {
    expect(findersOf(spoil)).toEqual(finders);
  });
});

test('a period that ends where its plan was changed is right, and one with the same plan after it is not', () => {
  const changed = (plan: string) =>
    findersOf(({ state }) => {
      const instant = '2026-11-20T12:30:00.000000Z';
      at(state.periods, 0).end = instant;
      Object.assign(at(state.periods, 1), { start: instant, plan });
    });
  expect(changed('large')).toEqual([]);
  expect(changed('small')).toEqual(['periods']);
});

test('a page of the feed that left an event out, or held another one, is found', () => {
  const page = (...events: [number, string][]) => events.map(([sequence, type]) => ({ sequence, type }));
  const finders = (after: string, body: unknown) => findersOf((billing) => void answered(billing, 'feed', after, body));
  expect(finders('1', page([2, 'invoice.finalized'], [3, 'invoice.finalized']))).toEqual([]);
  expect(finders('1', page([3, 'invoice.finalized']))).toEqual(['feed']);
  expect(finders('1', page([2, 'invoice.voided']))).toEqual(['feed']);
});

test('a payment that was answered and is not so in the end is found', () => {
  const finders = (subject: string, status: number, body?: unknown) =>
    findersOf((billing) => {
      billing.run.exchange([], { operation: 'billing', subject, status, body, expect: [status] });
    });
  const first = { id: 'first', status: 'OPEN', invoice_number: 'INV-2026-000001', total: '1.12' };
  const paid = (id: string, amount: string, taken_back_at: string | null = null) => ({
    ...first,
    payments: [{ id, amount, taken_back_at }],
  });
  expect(finders('pay first', 200, paid('payment', '0.37'))).toEqual([]);
  expect(finders('pay first', 200, paid('mistake', '0.01'))).toEqual([]);
  expect(finders('pay first', 200, paid('payment', '0.38'))).toEqual(['payments']);
  expect(finders('pay first', 200, paid('another', '0.37'))).toEqual(['payments']);
  expect(finders('pay first', 200, paid('payment', '0.37', '2026-11-20T00:00:00Z'))).toEqual(['payments']);
  expect(finders('take back mistake', 204)).toEqual([]);
  expect(finders('take back payment', 204)).toEqual(['payments']);
});

test('a change that was answered and is not so in the end is found', () => {
  const finders = (body: unknown, subject = 'a change') =>
    findersOf((billing) => void answered(billing, 'billing', subject, body));
  const first = { id: 'first', status: 'OPEN', invoice_number: 'INV-2026-000001', total: '1.12' };
  expect(finders({ ...first, total: '1.13' })).toEqual(['billing kept']);
  expect(finders({ ...first, status: 'PAID' })).toEqual(['billing kept']);
  expect(finders({ ...first, id: 'third' })).toEqual(['billing kept']);
  expect(finders({ id: 'grant', remaining: '2.00', amount: '2.00' })).toEqual([]);
  expect(finders({ id: 'another', remaining: '2.00', amount: '2.00' })).toEqual(['billing kept']);
  expect(finders({ id: 'line-4', billed_before: '0.00', amount: '0.67' })).toEqual([]);
  expect(finders({ id: 'line-5', billed_before: '0.00', amount: '0.67' })).toEqual(['billing kept']);
  expect(finders({ id: 'sub', plan_name: 'a', status: 'ACTIVE' })).toEqual([]);
  expect(finders({ id: 'sub', plan_name: 'a', status: 'CANCELED' })).toEqual(['billing kept']);
  const now = { id: 'sub', plan_name: 'a', status: 'ACTIVE', cycle: 2, plan_id: 'small' };
  const begun = { ...now, current_period_start: '2026-11-20T23:00:00.000Z' };
  expect(finders(begun, 'change now sub')).toEqual([]);
  expect(finders({ ...begun, plan_id: 'large' }, 'change now sub')).toEqual(['billing kept']);
  const later = { ...begun, current_period_start: '2026-11-20T23:00:01.000Z' };
  expect(finders(later, 'change now sub')).toEqual(['billing kept']);
  expect(finders({ ...later, cycle: null }, 'change now sub')).toEqual([]);
  expect(finders(later, 'change sub')).toEqual([]);
  expect(finders({ invoice: null })).toEqual([]);
  expect(finders({ invoice: first })).toEqual([]);
  expect(finders({ invoice: { ...first, total: '1.13' } })).toEqual(['billing kept']);
});
