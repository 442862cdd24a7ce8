// That what clients were told of payments is so in the end: each stands with its amount, or was taken back, and none counts twice.

import type { BillingState } from './billing-state.ts';
import { Check } from './check.ts';
import { canonical } from './exact.ts';
import type { Facts } from './history-facts.ts';

interface ToldPayment {
  id: string;
  amount: string;
  taken_back_at: string | null;
}

const TAKE_BACK = 'take back ';

/** Payments are sent again, with their references, until there is an answer. */
export function paymentsAreKept({ payments }: BillingState, { billing }: Facts): Check {
  const check = new Check(
    'payments',
    'A payment that was answered is there with its amount, one that was taken back counts no more, and one reference pays an invoice once.',
  );
  const byId = new Map(payments.map((payment) => [payment.id, payment]));
  const standing = new Set<string>();
  for (const { invoice, reference, isTakenBack, id } of payments) {
    if (isTakenBack || reference === null) continue;
    const name = `${reference} of invoice ${invoice}`;
    check.examine();
    if (standing.has(name)) check.violate(`${name} counts twice: payment ${id}`);
    standing.add(name);
  }
  const look = ({ id, amount, taken_back_at }: ToldPayment, at: number): void => {
    const payment = byId.get(id);
    check.examine();
    if (payment === undefined || canonical(payment.amount) !== canonical(amount))
      check.violate(`payment ${id} was ${amount} at ${at} ms, and is ${payment?.amount ?? 'nowhere'}`);
    else if (taken_back_at !== null && !payment.isTakenBack)
      check.violate(`payment ${id} was taken back at ${at} ms, and counts`);
  };
  for (const { operation, subject, status, body, at } of billing) {
    if (operation !== 'billing') continue;
    if (status === 204 && subject.startsWith(TAKE_BACK)) {
      check.examine();
      if (byId.get(subject.slice(TAKE_BACK.length))?.isTakenBack !== true)
        check.violate(`${subject} was answered ${status} at ${at} ms, and it counts`);
    }
    if (status !== 200) continue;
    const { payments: told = [] } = body as { payments?: ToldPayment[] };
    for (const each of told) look(each, at);
  }
  return check;
}
