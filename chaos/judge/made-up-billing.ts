// A small billing made up for the tests of the judge, in which all is right: a test then spoils one thing. One customer, two days,
// a meter of sums and a fixed price; the first day is billed, and something of it came late and was billed with the second.

import { emptyBillingState, type BillingState, type StoredDue, type StoredLine } from './billing-state.ts';
import { eventOf, idOf, MadeUpRun, SUM } from './made-up-run.ts';
import type { StoredEvent } from './stored-state.ts';
import { acknowledgedEvents } from './acknowledged.ts';
import { SentUsage } from './billed-usage.ts';

const DAYS = ['2026-11-18T23:00:00.000000Z', '2026-11-19T23:00:00.000000Z', '2026-11-20T23:00:00.000000Z'] as const;

export interface MadeUpBilling {
  run: MadeUpRun;
  state: BillingState;
  events: StoredEvent[];
  sent(): SentUsage;
}

export function madeUpBilling(): MadeUpBilling {
  const run = new MadeUpRun();
  const used: [number, string, string][] = [
    [1, '0.1', '2026-11-19T10:00:00.000Z'],
    [2, '0.25', '2026-11-19T11:00:00.000Z'],
    [3, '2', '2026-11-20T10:00:00.000Z'],
    // Late, and billed; late, and waiting; of the day that is open.
    [4, '1.4', '2026-11-19T12:00:00.000Z'],
    [5, '7', '2026-11-19T13:00:00.000Z'],
    [6, '3', '2026-11-21T10:00:00.000Z'],
  ];
  for (const [number, quantity, timestamp] of used) {
    const event = eventOf(`key-${number}`, { quantity, timestamp });
    run.accept(event, idOf(number)).record(event, idOf(number));
  }
  const state: BillingState = { ...emptyBillingState(), ...rows() };
  const events = acknowledgedEvents(run.facts, run.index);
  return { run, state, events, sent: () => new SentUsage(run.facts, events, state, run.state.corrections) };
}

function rows(): Partial<BillingState> {
  const due = (charge: string, cycle: number, closing: number | null): StoredDue => ({
    subscription: 'sub',
    cycle,
    charge,
    organization: 0,
    meter: charge === 'usage' ? SUM : -1,
    customer: 'acme',
    start: DAYS[cycle] ?? DAYS[2],
    end: DAYS[cycle + 1] ?? '2026-11-21T23:00:00.000000Z',
    closing,
  });
  const line = (id: string, invoice: string, cycle: number, more: Partial<StoredLine>): StoredLine => ({
    id,
    invoice,
    subscription: 'sub',
    cycle,
    charge: 'usage',
    quantity: null,
    eventCount: null,
    amount: '0.00',
    closing: null,
    ...more,
  });
  const invoice = { organization: 0, subscription: 'sub', isDue: false };
  return {
    subscriptions: [
      {
        id: 'sub',
        organization: 0,
        timeZone: 'Europe/Berlin',
        status: 'ACTIVE',
        cycle: 2,
        endedAt: null,
        isDue: false,
      },
    ],
    periods: [0, 1, 2].map((cycle) => {
      const { start, end } = due('usage', cycle, null);
      return { subscription: 'sub', cycle, plan: 'small', start, end };
    }),
    dues: [due('usage', 0, 2), due('base', 0, 1), due('usage', 1, 2), due('usage', 2, null)],
    invoices: [
      {
        ...invoice,
        id: 'first',
        status: 'OPEN',
        cycle: 1,
        number: 'INV-2026-000001',
        total: '1.12',
        finalizedAt: '2026-11-20T05:00:00.000000Z',
      },
      {
        ...invoice,
        id: 'second',
        status: 'VOID',
        cycle: 2,
        number: 'INV-2026-000002',
        total: '1.13',
        finalizedAt: '2026-11-21T05:00:00.000000Z',
      },
    ],
    lines: [
      line('line-1', 'first', 0, {
        quantity: '0.35',
        eventCount: 2,
        amount: '0.12',
        closing: 1,
      }),
      line('line-2', 'first', 0, { charge: 'base', amount: '1.00', closing: 1 }),
      line('line-3', 'second', 0, {
        quantity: '1.75',
        eventCount: 3,
        amount: '0.46',
        closing: 2,
      }),
      line('line-4', 'second', 1, { quantity: '2.0', eventCount: 1, amount: '0.67', closing: 2 }),
    ],
    voided: [],
    late: [
      { event: idOf(4), closing: 1 },
      { event: idOf(5), closing: 2 },
    ],
    payments: [
      { id: 'payment', invoice: 'second', amount: '0.37', reference: 'ch_1', isTakenBack: false },
      { id: 'mistake', invoice: 'second', amount: '0.01', reference: 'ch_1', isTakenBack: true },
    ],
    grants: [{ id: 'grant', organization: 0, amount: '2.00' }],
    feed: [1, 2, 3].map((sequence) => ({
      organization: 0,
      sequence,
      type: 'invoice.finalized',
      createdAt: DAYS[2],
      data: { id: `invoice-${sequence}` },
    })),
    open: [{ subscription: 'sub', cycle: 2, charge: 'usage', quantity: '3' }],
  };
}
