import { describe, expect, test } from 'vitest';
import { amountsAddUp, grantsAddUp, roundedOf } from './amounts.ts';
import { feedHasNoGap, invoicesAreMadeOnce, numbersHaveNoGap, periodsTile } from './billed-once.ts';
import { linesBillWhatWasSent, subscriptionsBillWhatWasUsed } from './billed-usage.ts';
import { changesOfBillingAreKept } from './billing-kept.ts';
import type { Check } from './check.ts';
import { decimalOf } from './exact.ts';
import { madeUpBilling, type MadeUpBilling } from './made-up-billing.ts';
import { idOf } from './made-up-run.ts';

const CHECKS: Record<string, (billing: MadeUpBilling) => Check> = {
  'billed lines': ({ state, sent }) => linesBillWhatWasSent(state, sent()),
  'billed usage': ({ state, sent }) => subscriptionsBillWhatWasUsed(state, sent()),
  'one invoice': ({ state }) => invoicesAreMadeOnce(state),
  'invoice numbers': ({ state }) => numbersHaveNoGap(state),
  periods: ({ state }) => periodsTile(state),
  sums: ({ state }) => amountsAddUp(state),
  credits: ({ state }) => grantsAddUp(state),
  feed: ({ state, run }) => feedHasNoGap(state, run.facts),
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
  for (const [name, make] of Object.entries(CHECKS)) {
    const check = make(billing);
    expect(check.name).toBe(name);
    expect(check.examples).toEqual([]);
    expect(check.examined, name).toBeGreaterThan(0);
  }
});

const SPOILED: [string, string[], (billing: MadeUpBilling) => void][] = [
  // What a closing that is read too early does: the event is in no line, and late for none.
  ['an event in no line and not late', ['billed lines', 'billed usage'], ({ state }) => state.late.pop()],
  [
    'an event that is billed and late as well',
    ['billed lines', 'billed usage'],
    ({ state }) => state.late.push({ event: idOf(1), closing: 2 }),
  ],
  [
    'an event that is late for another closing than its line says',
    ['billed lines'],
    ({ state }) => (at(state.late, 0).closing = 0),
  ],
  [
    'a quantity off by the last digit',
    ['billed lines', 'billed usage'],
    ({ state }) => (at(state.lines, 3).quantity = '2.01'),
  ],
  ['a wrong count of events', ['billed lines'], ({ state }) => (at(state.lines, 0).eventCount = 3)],
  [
    'an open due that tells too little',
    ['billed lines', 'billed usage'],
    ({ state }) => (at(state.open, 0).quantity = '2'),
  ],
  ['an open due of which nothing is told', ['billed lines', 'billed usage'], ({ state }) => state.open.pop()],
  ['a second invoice of a cycle', ['one invoice'], ({ state }) => (at(state.invoices, 1).cycle = 1)],
  ['a draft past its grace', ['one invoice'], ({ state }) => (at(state.invoices, 1).isDue = true)],
  ['a boundary that nobody passed', ['one invoice'], ({ state }) => (at(state.subscriptions, 0).isDue = true)],
  ['a number that is missing', ['invoice numbers'], ({ state }) => (at(state.invoices, 1).number = 'INV-2026-000003')],
  ['a number given twice', ['invoice numbers'], ({ state }) => (at(state.invoices, 1).number = 'INV-2026-000001')],
  ['a gap between periods', ['periods'], ({ state }) => (at(state.periods, 1).start = '2026-11-19T23:00:00.000001Z')],
  [
    'a boundary at no midnight',
    ['periods'],
    ({ state }) => {
      at(state.periods, 0).end = '2026-11-20T00:00:00.000000Z';
      at(state.periods, 1).start = '2026-11-20T00:00:00.000000Z';
    },
  ],
  ['a period that is missing', ['periods'], ({ state }) => state.periods.pop()],
  ['an amount that is rounded down', ['sums'], ({ state }) => (at(state.lines, 3).amount = '0.66')],
  ['a total that is not the sum', ['sums'], ({ state }) => (at(state.invoices, 0).total = '1.13')],
  [
    'a due that is billed twice',
    ['sums'],
    ({ state }) => {
      Object.assign(at(state.lines, 2), { billedBefore: '0.00', amount: '0.58' });
      Object.assign(at(state.invoices, 1), { subtotal: '1.25', total: '1.25' });
    },
  ],
  ['a paid invoice of which something is due', ['sums'], ({ state }) => (at(state.invoices, 0).status = 'PAID')],
  ['a grant that says too much', ['credits'], ({ state }) => (at(state.grants, 0).remaining = '2.00')],
  [
    'a grant below zero',
    ['credits'],
    ({ state }) => Object.assign(at(state.grants, 0), { amount: '0.10', remaining: '-0.02' }),
  ],
  ['a draw that no invoice knows', ['credits'], ({ state }) => (at(state.invoices, 0).creditsApplied = '0.00')],
  [
    'a void invoice that kept its draw',
    ['credits'],
    ({ state }) => {
      state.draws.pop();
      at(state.grants, 0).remaining = '1.58';
    },
  ],
  ['a gap in the feed', ['feed'], ({ state }) => state.feed.splice(1, 1)],
  ['an event of the feed that is there twice', ['feed'], ({ state }) => state.feed.push(at(state.feed, 2))],
];

describe('is found, by the checks that it belongs to', () => {
  test.each(SPOILED)('%s', (_, finders, spoil) => {
    expect(findersOf(spoil)).toEqual(finders);
  });
});

test('a page of the feed that left an event out, or held another one, is found', () => {
  const page = (...events: [number, string][]) => events.map(([sequence, type]) => ({ sequence, type }));
  const finders = (after: string, body: unknown) => findersOf((billing) => void answered(billing, 'feed', after, body));
  expect(finders('1', page([2, 'invoice.finalized'], [3, 'invoice.finalized']))).toEqual([]);
  expect(finders('1', page([3, 'invoice.finalized']))).toEqual(['feed']);
  expect(finders('1', page([2, 'invoice.voided']))).toEqual(['feed']);
});

test('a change that was answered and is not so in the end is found', () => {
  const finders = (body: unknown) => findersOf((billing) => void answered(billing, 'billing', 'a change', body));
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
  expect(finders({ invoice: null })).toEqual([]);
  expect(finders({ invoice: first })).toEqual([]);
  expect(finders({ invoice: { ...first, total: '1.13' } })).toEqual(['billing kept']);
});

test('the judge rounds half away from zero, and fractions exactly', () => {
  const rounded = (exact: string) => decimalOf(roundedOf(exact));
  expect(['0.005', '-0.005', '0.00499999', '7/3', '-7/3', '1/200', '0'].map(rounded)).toEqual([
    '0.01',
    '-0.01',
    '0',
    '2.33',
    '-2.33',
    '0.01',
    '0',
  ]);
});
