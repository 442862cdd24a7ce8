import { expect, test } from 'vitest';
import { MadeUpRun, idOf } from './made-up-run.ts';
import {
  invoicesComputeAgain,
  reconcileFindsAllBilled,
  reconcileFindsAllEqual,
  type Reconciled,
} from './reconciled.ts';

type Billing = NonNullable<Reconciled['billing']>;

const RIGHT: Billing = {
  events: [{ meter_id: 'sum', month: '2026-11', recorded: 4, difference: 0 }],
  dues: { compared: 2, miscounted: 0, examples: [] },
  checks: { made: 1, broken: [] },
  invoices: { from: ['rollups', 'events'], computed: 3, differing: 0, examples: [] },
};

const reconciledOf = (more: Partial<Billing>): Reconciled => ({
  events: [],
  rollups: { compared: 0, differing: [] },
  billing: { ...RIGHT, ...more },
});

/** What reconcile found of a run: events that differ, and rollups that do. */
function violationsOf(run: MadeUpRun, difference: number, differing: object[] = []): number {
  const events = [
    { organization_id: 'a', month: '2026-11', difference },
    { organization_id: 'b', month: '2026-11', difference: 0 },
  ];
  return reconcileFindsAllEqual(run.facts, { events, rollups: { compared: 28, differing } }).violations;
}

test('a run in which nothing differs passes, and a rollup that differs is found', () => {
  expect(violationsOf(new MadeUpRun(), 0)).toBe(0);
  expect(violationsOf(new MadeUpRun(), 0, [{ table: 'usage' }])).toBe(1);
});

test('events that are missing are found, but for as many as were lost with Redis', () => {
  const cut = new MadeUpRun().fault({ losesClaims: true, lostEvents: [idOf(1)] });
  expect(violationsOf(new MadeUpRun(), 1)).toBe(1);
  expect(violationsOf(cut, 1)).toBe(0);
  expect(violationsOf(cut, 2)).toBe(1);
});

test('events that were not counted are found, unless Redis lost its counts', () => {
  expect(violationsOf(new MadeUpRun(), -1)).toBe(1);
  expect(violationsOf(new MadeUpRun().fault({ losesClaims: true }), -1)).toBe(0);
  expect(violationsOf(new MadeUpRun().fault({ losesClaims: true, keepsCounts: true }), -1)).toBe(1);
});

test('events in no due, dues that bill others and broken promises of billing are found', () => {
  const violations = (more: Partial<Billing>) => reconcileFindsAllBilled(reconciledOf(more)).violations;
  expect(violations({})).toBe(0);
  expect(reconcileFindsAllBilled(reconciledOf({})).examined).toBe(7);
  expect(violations({ events: [{ meter_id: 'sum', month: '2026-11', recorded: 4, difference: 1 }] })).toBe(1);
  expect(violations({ dues: { compared: 2, miscounted: 1, examples: [{}] } })).toBe(1);
  expect(violations({ checks: { made: 1, broken: [{ name: 'draws', promise: '', found: 1, faults: [] }] } })).toBe(1);
});

test('an invoice that is not identical is found, at the end and while the run was on', () => {
  const asked = (identical: boolean) =>
    new MadeUpRun().exchange([], { operation: 'recompute', subject: 'invoice', status: 200, body: { identical } })
      .facts;
  const differing = { ...RIGHT.invoices, differing: 1, examples: [{ invoice_id: 'a', from: 'events', said: '' }] };
  expect(invoicesComputeAgain(asked(true), reconciledOf({}))).toMatchObject({ violations: 0, examined: 7 });
  expect(invoicesComputeAgain(asked(false), reconciledOf({})).violations).toBe(1);
  expect(invoicesComputeAgain(asked(true), reconciledOf({ invoices: differing })).violations).toBe(1);
});
