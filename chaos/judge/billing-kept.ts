// That what clients were told of billing is so: each change that was answered with 200 or 201, and each page of the feed, is there
// when all is over.

import { canonical, microsOf } from './exact.ts';
import type { BillingState } from './billing-state.ts';
import { Check } from './check.ts';
import type { Facts } from './history-facts.ts';

/** What an invoice may be after it was told to be so. */
const LATER: Record<string, string[]> = {
  OPEN: ['OPEN', 'PAID', 'VOID', 'UNCOLLECTIBLE'],
  UNCOLLECTIBLE: ['UNCOLLECTIBLE', 'PAID', 'VOID'],
  PAID: ['PAID'],
  VOID: ['VOID'],
};

interface Told {
  id?: string;
  invoice_number?: string | null;
  status?: string;
  total?: string;
  /** Of a grant. */
  remaining?: string;
  amount?: string;
  /** Of a line. */
  billed_before?: string;
  /** Of a subscription. */
  plan_name?: string;
  plan_id?: string;
  /** Null in a trial. */
  cycle?: number | null;
  current_period_start?: string;
  /** Of an alert. */
  thresholds?: string[];
}

export function changesOfBillingAreKept(state: BillingState, { billing }: Facts): Check {
  const check = new Check(
    'billing kept',
    'What a change of billing was answered is so in the end: the invoice with its number and total, the line, the grant, the subscription and, of one that was changed now, its period, and the alert.',
  );
  const invoices = new Map(state.invoices.map((invoice) => [invoice.id, invoice]));
  const lines = new Map(state.lines.map((line) => [line.id, line]));
  const grants = new Map(state.grants.map((grant) => [grant.id, grant]));
  const alerts = new Set(state.alerts.map(({ id }) => id));
  const subscriptions = new Map(state.subscriptions.map((subscription) => [subscription.id, subscription]));
  // Whatever such an invoice was, it may have been open since.
  const reopened = new Set(state.payments.filter(({ isTakenBack }) => isTakenBack).map(({ invoice }) => invoice));
  const periods = new Set(state.periods.map(({ subscription, plan, start }) => `${subscription} ${plan} ${start}`));
  const problemOf = (told: Told, subject: string): string | undefined => {
    const { id = '' } = told;
    if (told.invoice_number !== undefined) {
      const invoice = invoices.get(id);
      const isSame =
        invoice?.number === told.invoice_number && canonical(invoice?.total ?? '') === canonical(told.total ?? '');
      if (invoice === undefined || !isSame) return `is ${invoice?.number} with a total of ${invoice?.total}`;
      const isReopened = told.status === 'PAID' && reopened.has(id);
      const isLater = isReopened || LATER[told.status ?? '']?.includes(invoice.status) === true;
      return isLater ? undefined : `is ${invoice.status}`;
    }
    if (told.billed_before !== undefined) {
      const amount = lines.get(id)?.amount ?? 'nowhere';
      return canonical(amount) === canonical(told.amount ?? '') ? undefined : `is ${amount}`;
    }
    if (told.remaining !== undefined) {
      const amount = grants.get(id)?.amount ?? 'nowhere';
      return canonical(amount) === canonical(told.amount ?? '') ? undefined : `is ${amount}`;
    }
    if (told.thresholds !== undefined) return alerts.has(id) ? undefined : 'is nowhere';
    if (told.plan_name === undefined) return 'was answered with what the judge does not know';
    const subscription = subscriptions.get(id);
    if (subscription === undefined) return 'is nowhere';
    const { plan_id, cycle = null, current_period_start = '' } = told;
    const hasPeriod = () => periods.has(`${id} ${plan_id} ${microsOf(current_period_start)}`);
    if (subject.startsWith('change now') && cycle !== null && !hasPeriod()) return 'no period begins so';
    return told.status === 'CANCELED' && subscription.status !== 'CANCELED' ? `is ${subscription.status}` : undefined;
  };
  for (const { operation, subject, status, body, at } of billing) {
    if (operation !== 'billing' || (status !== 200 && status !== 201)) continue;
    const { invoice, ...own } = body as Told & { invoice?: Told | null };
    // Of what was to be settled nothing came to an amount.
    if (invoice === null) continue;
    const told = invoice ?? own;
    check.examine();
    const problem = problemOf(told, subject);
    if (problem !== undefined)
      check.violate(`${subject} was answered ${JSON.stringify(told).slice(0, 200)} at ${at} ms, and ${problem}`);
  }
  return check;
}

/** Whoever followed the feed was shown what stands there now. */
export function pagesOfTheFeedAreKept({ feed }: BillingState, { billing }: Facts): Check {
  const check = new Check(
    'feed',
    'Every page of the feed that was read held the next events, as they stand there now.',
  );
  const types = new Map(feed.map(({ organization, sequence, type }) => [`${organization} ${sequence}`, type]));
  for (const { operation, organization, subject, status, body, at } of billing) {
    if (operation !== 'feed' || status !== 200) continue;
    let before = Number(subject);
    for (const { sequence, type } of body as { sequence: number; type: string }[]) {
      check.examine();
      if (sequence !== before + 1)
        check.violate(`organization ${organization} read event ${sequence} after ${before}, at ${at} ms`);
      const now = types.get(`${organization} ${sequence}`);
      if (now !== type)
        check.violate(`event ${sequence} of organization ${organization} was ${type} at ${at} ms, and is ${now}`);
      before = sequence;
    }
  }
  return check;
}
