// Organizations that live by chance for some weeks, beside a model that shares no code with Weir (support/billing-model): every line,
// every total, what became of it and what is left of credits have to be the model's, and all of it can be computed again.
//
// With all tests it is small; CONTRIBUTING.md has more. What fails prints the seed.

import { afterAll, expect, test } from 'vitest';
import { Random } from '../../chaos/random.ts';
import { endWithTheRest } from '../support/billing-model/last-days.ts';
import { expectedOf, isoOf, Life } from '../support/billing-model/life.ts';
import { amountText } from '../support/billing-model/fractions.ts';
import { expectDocumentedFeed } from '../support/documented-feed.ts';
import { setBillingTime } from '../support/billing-time.ts';
import { openRun, type BillingRun } from '../support/billing-run.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { proofSize } from '../support/proof-size.ts';
import { ownWeir } from '../support/use-weir.ts';

const { size: SIZE, seed: SEED } = proofSize('MODEL');

const HOUR = 3_600_000;
/** So that instants fall on all hours of the day, and never on a midnight of any zone. */
const STEP = 7 * HOUR + 13_001;
const START = Date.parse('2025-02-20T08:00:00Z');

const weir = ownWeir();
const lives: Lived[] = [];

afterAll(async () => {
  for (const { billing } of lives) await billing.close();
});

interface Lived {
  billing: Invoicing;
  life: Life;
}

async function runAndFollow(run: BillingRun, lives: readonly Lived[], seen: Map<string, number>, now: number) {
  for (const { life } of lives) life.ledger.open(now);
  await run.untilDone();
  for (const { billing, life } of lives) {
    const { rows } = await weir.pool.query(
      `SELECT id, subscription_id, cycle, invoice_number AS number FROM invoices
       WHERE organization_id = $1 AND invoice_number IS NOT NULL ORDER BY invoice_number OFFSET $2`,
      [billing.admin.id, seen.get(billing.admin.id) ?? 0],
    );
    life.follow(rows, now);
  }
}

async function countSeen(lives: readonly Lived[], seen: Map<string, number>) {
  for (const { billing, life } of lives)
    seen.set(billing.admin.id, life.ledger.invoices.filter(({ status }) => status !== 'DRAFT').length);
}

interface ShownLine {
  kind: string;
  charge_id: string | null;
  cycle: number | null;
  period_start: string;
  period_end: string;
  days: string | null;
  billed_before: string;
  amount: string;
  waived: string | null;
  event_count: number | null;
}

type Shown = Record<'status' | 'total' | 'credits_applied' | 'amount_paid' | 'amount_due', string> & {
  lines: ShownLine[];
  payments: { amount: string; taken_back_at: string | null }[];
};

/** Of an invoice, what the model says of it. */
function shownOf(invoice: Shown) {
  const { status, total, credits_applied, amount_paid, amount_due } = invoice;
  const lines = invoice.lines
    .filter(({ kind }) => kind !== 'ADJUSTMENT')
    .map(({ charge_id, cycle, period_start, period_end, days, billed_before, amount, waived, event_count }) => {
      const period = {
        period_start: isoOf(Date.parse(period_start)),
        period_end: isoOf(Date.parse(period_end)),
      };
      return { charge_id, cycle, ...period, days, billed_before, amount, waived, event_count };
    });
  const payments = invoice.payments.filter((each) => each.taken_back_at === null).map(({ amount: paid }) => paid);
  return { status, total, credits_applied, amount_paid, amount_due, payments, lines: inOrder(lines) };
}

function inOrder(lines: { charge_id: string | null; cycle: number | null }[]) {
  const key = ({ charge_id, cycle }: { charge_id: string | null; cycle: number | null }) => `${charge_id} ${cycle}`;
  return lines.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

test(
  `invoices and credits are those of a model, and can be computed again (seed ${SEED})`,
  // For one that hangs: how long it takes says more about the machine.
  { timeout: 240_000 + SIZE * 120_000 },
  async () => {
    const random = new Random(SEED);
    const seen = new Map<string, number>();
    const steps = 50 + 2 * SIZE;
    for (let at = 0; at < Math.min(4, SIZE); at += 1) {
      const billing = await startInvoicing(weir);
      await setBillingTime(weir.pool, isoOf(START));
      const life = await Life.start(billing, random.fork());
      await life.furnish(START, { plans: 6, customers: 3 + 3 * SIZE });
      lives.push({ billing, life });
    }
    const run = openRun(weir, lives[0]!.billing.database);
    for (let step = 1; step <= steps; step += 1) {
      const now = START + step * STEP;
      await setBillingTime(weir.pool, isoOf(now));
      // Now and then the run comes late, and people do not wait for it.
      if (random.chance(0.8)) await runAndFollow(run, lives, seen, now);
      for (const { life } of lives) await life.happen(now);
      await countSeen(lives, seen);
    }
    const happened = new Map<string, number>();
    const count = (what: string, times = 1) => happened.set(what, (happened.get(what) ?? 0) + times);
    const now = START + steps * STEP;
    for (const { billing, life } of lives) {
      // A long life comes to all of it by itself.
      if (SIZE < 5) await endWithTheRest(billing, life.ledger, now);
      count('changed', life.changes);
      count('price taken back', life.pricesTakenBack);
      for (const { schedule, createdAt, cycle } of life.ledger.subscriptions)
        count('scheduled', schedule.start > createdAt && cycle !== null ? 1 : 0);
      for (const invoice of life.ledger.invoices.filter(({ status }) => status !== 'DRAFT')) {
        const shown = await billing.get(`/invoices/${invoice.id}`);
        const expected = expectedOf(invoice);
        expect({ id: invoice.id, ...shownOf(shown) }).toEqual({
          id: invoice.id,
          ...expected,
          lines: inOrder(expected.lines),
        });
        for (const from of ['rollups', 'events'])
          expect(await billing.post(`/invoices/${invoice.id}/recompute`, { from })).toMatchObject({ identical: true });
        count('invoices');
        count(invoice.status);
        count(invoice.total < 0n ? 'below zero' : 'not below zero');
        count('paid in parts', invoice.payments.length > 1 ? 1 : 0);
        count('taken back', invoice.takenBack);
        count('settled', invoice.cycle === null ? 1 : 0);
        count('settled before the end', invoice.cycle === null && !invoice.subscription.isEnded ? 1 : 0);
        for (const { waived, billedBefore, due } of invoice.lines) {
          count('lines');
          count('waived', waived === 0n ? 0 : 1);
          count('late', billedBefore !== 0n && due.body.type === 'USAGE' ? 1 : 0);
          if (!life.announced.has(due.charge)) continue;
          count('by an announced price');
          count('after a change', due.subscription.extra > 0 ? 1 : 0);
          count('after a start to come', due.subscription.schedule.start > due.subscription.createdAt ? 1 : 0);
        }
      }
      for (const customer of life.customers) {
        const { balance } = await billing.get(`/customers/${customer.id}/credits`);
        for (const [currency, digits] of [
          ['USD', 2],
          ['JPY', 0],
          ['KWD', 3],
        ] as const)
          expect(balance[currency] ?? amountText(0n, digits)).toBe(
            amountText(customer.wallet.balance(currency, now), digits),
          );
      }
    }
    for (const what of [
      'PAID',
      'VOID',
      'below zero',
      'scheduled',
      'changed',
      'by an announced price',
      'paid in parts',
      'taken back',
      'OPEN',
      'UNCOLLECTIBLE',
      'late',
      'waived',
    ])
      expect(happened.get(what) ?? 0, `${what}, of ${JSON.stringify([...happened])}`).toBeGreaterThan(0);
    if (SIZE > 1) console.log(JSON.stringify([...happened]));
  },
);

test('what the feed told of it is what the document says', () => expectDocumentedFeed(weir, 'the model'));
