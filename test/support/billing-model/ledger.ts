// What an organization bills, and what becomes of it, as the documents promise it: in memory, one thing after the other, and
// without a line of Weir. Whoever drives it tells it what happened, in the order in which it happened.

import type { AggregationType } from '@weir/shared/meter';
import { daysIn, periodAt, type ModelInterval, type ModelPeriod, type ModelSchedule } from './calendar.ts';
import { minorOf, NONE, type Fraction } from './fractions.ts';
import { priceOf, readingOf, type ModelCharge, type ModelDays, type ModelUse } from './prices.ts';
import { dueOf, largest, type Payable, type Wallet } from './wallet.ts';

export interface ModelPlan {
  id: string;
  digits: number;
  currency: string;
  interval: ModelInterval;
  prices: ModelPrice[];
}

/** A charge of a plan. Periods that begin between two instants are billed by it. */
export interface ModelPrice {
  id: string;
  body: ModelCharge;
  from: number;
  /** Infinity: none is to take its place. */
  to: number;
  /** The one whose place it takes. */
  replaces: ModelPrice | null;
}

/** What a charge comes to for a period of a subscription. */
export interface ModelDue {
  subscription: ModelSubscription;
  charge: string;
  body: ModelCharge;
  cycle: number;
  period: ModelPeriod;
  days: ModelDays | null;
  /** What its lines add up to, but for those that are to be billed again or are undone. */
  billed: bigint;
  lines: DueLine[];
  isClosed: boolean;
  /** Whether something was recorded for it since its last line. */
  isLate: boolean;
  /** Whether the next invoice is to bill it again. */
  isRebilling: boolean;
}

interface DueLine {
  invoice: ModelInvoice;
  amount: bigint;
  /** It gave back what nobody has paid, and counts no more. */
  isUndone: boolean;
}

export interface ModelLine {
  due: ModelDue;
  billedBefore: bigint;
  amount: bigint;
  waived: bigint;
  quantity: Fraction | null;
  events: number | null;
  /** As they were by then: a cancellation cuts both. */
  end: number;
  days: ModelDays | null;
}

export interface ModelInvoice extends Payable {
  id: string | null;
  subscription: ModelSubscription;
  /** Null of what is settled beside the boundaries. */
  cycle: number | null;
  finalizesAt: number;
  /** Rises with each that is issued. */
  nth: number;
  adjustments: bigint[];
  lines: ModelLine[];
  /** Those that stand, in the order in which they came. */
  payments: bigint[];
  /** How many do not. */
  takenBack: number;
  isGivenUp: boolean;
}

export interface ModelSubscription {
  id: string;
  customer: ModelCustomer;
  plan: ModelPlan;
  schedule: ModelSchedule;
  createdAt: number;
  /** Of the open period; null before the first. */
  cycle: number | null;
  /** How many boundaries there were that the schedule does not have: changes of plan. */
  extra: number;
  end: number;
  endsWithPeriod: boolean;
  isEnded: boolean;
  dues: ModelDue[];
}

export interface ModelCustomer {
  id: string;
  externalId: string;
  zone: string;
  wallet: Wallet<ModelInvoice>;
  /** By meter. */
  uses: Map<string, ModelUse[]>;
}

export class Ledger {
  readonly subscriptions: ModelSubscription[] = [];
  readonly invoices: ModelInvoice[] = [];
  readonly #graceMs: number;
  #issued = 0;
  readonly #aggregations: ReadonlyMap<string, AggregationType>;

  constructor(graceHours: number, aggregations: ReadonlyMap<string, AggregationType>) {
    this.#graceMs = graceHours * 3_600_000;
    this.#aggregations = aggregations;
  }

  subscribe(made: Pick<ModelSubscription, 'id' | 'customer' | 'plan' | 'schedule' | 'createdAt'>): ModelSubscription {
    const { start } = made.schedule;
    const subscription = {
      ...made,
      cycle: null,
      extra: 0,
      end: start,
      endsWithPeriod: false,
      isEnded: false,
      dues: [],
    };
    this.subscriptions.push(subscription);
    this.bringUpToDate(subscription, made.createdAt);
    return subscription;
  }

  /** Takes all subscriptions over the boundaries that have passed. */
  open(now: number): void {
    for (const subscription of this.subscriptions) this.bringUpToDate(subscription, now);
  }

  /** The same of one, which the run may not have reached yet when something is asked of it. */
  bringUpToDate(subscription: ModelSubscription, now: number): void {
    const withoutLines: { cycle: number; at: number }[] = [];
    while (!subscription.isEnded && subscription.end <= now) {
      const { cycle, at, hasLines } = this.#passBoundary(subscription);
      if (hasLines) this.#addDraft(subscription, cycle, at, now);
      else if (cycle > 0) withoutLines.push({ cycle, at });
    }
    // What came late goes onto whatever draft there is. Only where there is none, one is made for it.
    const [first] = withoutLines;
    if (first !== undefined && this.#waitsForInvoice(subscription))
      this.#addDraft(subscription, first.cycle, first.at, now);
  }

  /** The drafts whose grace is over. */
  dueDrafts(now: number): ModelInvoice[] {
    return this.invoices.filter(({ status, finalizesAt }) => status === 'DRAFT' && finalizesAt <= now);
  }

  firstDraft(subscription: ModelSubscription): ModelInvoice | undefined {
    const drafts = this.invoices.filter((each) => each.subscription === subscription && each.status === 'DRAFT');
    return drafts.sort((a, b) => (a.cycle ?? 0) - (b.cycle ?? 0))[0];
  }

  /** Records a use of a meter. */
  use(customer: ModelCustomer, meter: string, use: ModelUse): void {
    const uses = customer.uses.get(meter) ?? [];
    customer.uses.set(meter, [...uses, use]);
    for (const { dues } of this.subscriptions.filter((each) => each.customer === customer)) {
      for (const due of dues) {
        const isIn = due.body.meter_id === meter && use.at >= due.period.start && use.at < due.period.end;
        if (isIn && due.isClosed) due.isLate = true;
      }
    }
  }

  /** At an instant, now or later, a price gives its place to another one. It may be that in which it would have begun itself. */
  replacePrice(plan: ModelPlan, replaces: ModelPrice, made: Pick<ModelPrice, 'id' | 'body'>, at: number): void {
    replaces.to = at;
    plan.prices.push({ ...made, from: at, to: Infinity, replaces });
  }

  /** A price that has not begun never does, and the one before it goes on. */
  takeBackPrice(price: ModelPrice): void {
    price.to = price.from;
    if (price.replaces !== null) price.replaces.to = Infinity;
  }

  cancelNow(subscription: ModelSubscription, now: number): void {
    this.bringUpToDate(subscription, now);
    subscription.isEnded = true;
    const { cycle } = subscription;
    if (cycle === null) return;
    const hasToSettle = this.#cut(subscription, now, true);
    subscription.end = now;
    if (hasToSettle || this.#waitsForInvoice(subscription)) this.#addDraft(subscription, cycle + 1, now, now);
  }

  /** The other plan has the same interval, but before the first period. */
  changeNow(subscription: ModelSubscription, plan: ModelPlan, now: number): void {
    this.bringUpToDate(subscription, now);
    const { cycle, schedule, end } = subscription;
    subscription.plan = plan;
    if (cycle === null) {
      subscription.schedule = { ...schedule, interval: plan.interval };
      return;
    }
    const hasToSettle = this.#cut(subscription, now, false);
    subscription.extra += 1;
    subscription.cycle = cycle + 1;
    const dues = this.#duesOf(subscription, cycle + 1, { start: now, end });
    subscription.dues.push(...dues);
    const hasLines = hasToSettle || dues.some((due) => !isArrears(due));
    if (hasLines || this.#waitsForInvoice(subscription)) this.#addDraft(subscription, cycle + 1, now, now);
  }

  /** Ends the dues of the open period, and returns whether something of them is to be settled. */
  #cut(subscription: ModelSubscription, end: number, countsLast: boolean): boolean {
    const { schedule, cycle, extra, dues } = subscription;
    const own = dues.filter((due) => due.cycle === cycle);
    for (const due of own) {
      due.period = { ...due.period, end };
      due.days = daysIn(schedule, (cycle ?? 0) - extra, { ...due.period, countsLast });
    }
    return own.some((due) => isArrears(due) || (due.isClosed && this.#comesTo(due).minor !== due.billed));
  }

  /** Finalizes the earliest draft of a subscription, or another one that is. False: it had no lines, and is no more. */
  finalize(invoice: ModelInvoice, now: number): boolean {
    invoice.lines = this.#linesOf(invoice);
    if (invoice.lines.length === 0 && invoice.adjustments.length === 0) {
      this.invoices.splice(this.invoices.indexOf(invoice), 1);
      return false;
    }
    this.#issue(invoice, now);
    return true;
  }

  /** What came after the end, or is billed again, on an invoice of its own. Undefined where it comes to nothing. */
  settle(subscription: ModelSubscription, now: number): ModelInvoice | undefined {
    const invoice = draftOf(subscription, null, now);
    invoice.lines = this.#linesOf(invoice);
    if (sumOf(invoice) === 0n) return undefined;
    this.invoices.push(invoice);
    this.#issue(invoice, now);
    return invoice;
  }

  /** All that is due, or less. */
  pay(invoice: ModelInvoice, amount: bigint): void {
    invoice.paid += amount;
    invoice.payments.push(amount);
    if (dueOf(invoice) === 0n) invoice.status = 'PAID';
  }

  /** It is open again, or given up, for as much as one of its payments was. */
  takeBack(invoice: ModelInvoice, at: number): void {
    const [amount = 0n] = invoice.payments.splice(at, 1);
    invoice.takenBack += 1;
    invoice.paid -= amount;
    invoice.status = invoice.isGivenUp ? 'UNCOLLECTIBLE' : 'OPEN';
  }

  giveUp(invoice: ModelInvoice): void {
    invoice.status = 'UNCOLLECTIBLE';
    invoice.isGivenUp = true;
  }

  /** False where other invoices gave back what this one billed, and not all of that can be had again: then it stays as it is. */
  void(invoice: ModelInvoice, isRebilled: boolean): boolean {
    const { wallet } = invoice.subscription.customer;
    const undone = isRebilled ? [] : this.#givenBack(invoice);
    if (undone === undefined || !wallet.giveBack(invoice, sumsByOrigin(undone))) return false;
    invoice.status = 'VOID';
    for (const { due, line } of undone) {
      due.billed -= line.amount;
      line.isUndone = true;
    }
    for (const { due, amount } of invoice.lines) {
      // A waived invoice keeps what it asked for. What it took off an earlier one nobody got, and the next one takes it off.
      if (!isRebilled && amount >= 0n) continue;
      due.billed -= amount;
      due.isRebilling = true;
    }
    return true;
  }

  /** `hasLines`: not only of what came late. */
  #passBoundary(subscription: ModelSubscription): { cycle: number; at: number; hasLines: boolean } {
    const { schedule, end: at } = subscription;
    const cycle = subscription.cycle === null ? 0 : subscription.cycle + 1;
    let hasLines = subscription.dues.some((due) => due.cycle === cycle - 1 && isArrears(due));
    if (subscription.endsWithPeriod) subscription.isEnded = true;
    else {
      const period = periodAt(schedule, cycle - subscription.extra);
      const dues = this.#duesOf(subscription, cycle, period);
      subscription.dues.push(...dues);
      subscription.cycle = cycle;
      subscription.end = period.end;
      hasLines ||= dues.some((due) => !isArrears(due));
    }
    return { cycle, at, hasLines };
  }

  /** Those of charges that are in force when the period begins, or when the subscription was made. */
  #duesOf(subscription: ModelSubscription, cycle: number, period: ModelPeriod): ModelDue[] {
    const { plan, schedule, createdAt, extra } = subscription;
    const at = Math.max(period.start, createdAt);
    const inForce = plan.prices.filter(({ from, to }) => from <= at && to > at);
    return inForce.map(({ id, body }) => ({
      subscription,
      charge: id,
      body,
      cycle,
      period,
      days: daysIn(schedule, cycle - extra, { ...period, countsLast: false }),
      billed: 0n,
      lines: [],
      isClosed: false,
      isLate: false,
      isRebilling: false,
    }));
  }

  #addDraft(subscription: ModelSubscription, cycle: number, boundary: number, now: number): void {
    this.invoices.push(draftOf(subscription, cycle, Math.max(boundary, now) + this.#graceMs));
  }

  /** Whether something came late, and no draft is there to take it. */
  #waitsForInvoice(subscription: ModelSubscription): boolean {
    return this.firstDraft(subscription) === undefined && subscription.dues.some(isWaiting);
  }

  #linesOf(invoice: ModelInvoice): ModelLine[] {
    const { subscription, cycle } = invoice;
    const own = subscription.dues.filter((due) => {
      if (cycle === null) return false;
      if (due.cycle === cycle) return !isArrears(due);
      if (due.cycle !== cycle - 1) return false;
      return isArrears(due) || (due.isClosed && this.#comesTo(due).minor !== due.billed);
    });
    const takesLate = cycle === null || this.firstDraft(subscription) === invoice;
    const late = takesLate ? subscription.dues.filter((due) => isWaiting(due) && !own.includes(due)) : [];
    return [...own, ...late].map((due) => {
      const { minor, quantity, events } = this.#comesTo(due);
      const { billed: billedBefore } = due;
      const live = sumOfLines(due.lines.filter(isLive));
      const amount = largest(minor - billedBefore, minor < billedBefore ? -largest(live, 0n) : minor - billedBefore);
      const waived = amount - (minor - billedBefore);
      return { due, billedBefore, amount, waived, quantity, events, end: due.period.end, days: due.days };
    });
  }

  #comesTo({ subscription: { customer, plan }, body, period, days }: ModelDue): {
    minor: bigint;
    quantity: ModelLine['quantity'];
    events: number | null;
  } {
    const { meter_id: meter } = body;
    if (meter === undefined)
      return { minor: minorOf(priceOf(body, NONE, 0, days), plan.digits), quantity: null, events: null };
    const uses = (customer.uses.get(meter) ?? []).filter(({ at }) => at >= period.start && at < period.end);
    const quantity = readingOf(this.#aggregations.get(meter) ?? 'SUM', uses);
    return { minor: minorOf(priceOf(body, quantity, uses.length, days), plan.digits), quantity, events: uses.length };
  }

  #issue(invoice: ModelInvoice, now: number): void {
    for (const { due, amount } of invoice.lines) {
      due.billed += amount;
      due.lines.push({ invoice, amount, isUndone: false });
      due.isClosed = true;
      due.isLate = false;
      due.isRebilling = false;
    }
    invoice.total = sumOf(invoice);
    this.#issued += 1;
    invoice.nth = this.#issued;
    const { wallet } = invoice.subscription.customer;
    const { currency } = invoice.subscription.plan;
    if (invoice.total > 0n) {
      invoice.status = 'OPEN';
      wallet.draw(invoice, currency, now);
      return;
    }
    invoice.status = 'PAID';
    if (invoice.total === 0n) return;
    const open = this.invoices.filter(
      ({ status, subscription: { customer, plan } }) =>
        customer === invoice.subscription.customer &&
        plan.currency === currency &&
        (status === 'OPEN' || status === 'UNCOLLECTIBLE'),
    );
    wallet.grantOf(
      invoice,
      currency,
      open.sort((a, b) => a.nth - b.nth),
    );
  }

  /** Lines that gave back what nobody but this invoice had billed; undefined where some of that was billed once more. */
  #givenBack(invoice: ModelInvoice): { due: ModelDue; line: DueLine }[] | undefined {
    const given: { due: ModelDue; line: DueLine }[] = [];
    for (const due of new Set(invoice.lines.map((each) => each.due))) {
      const others = due.lines.filter((line) => isLive(line) && line.invoice !== invoice);
      if (sumOfLines(others) >= 0n) continue;
      if (others.some(({ amount }) => amount > 0n)) return undefined;
      for (const line of others) if (line.amount < 0n) given.push({ due, line });
    }
    return given;
  }
}

/** Billed at the end of its period, and not at its beginning. */
function isArrears({ body }: ModelDue): boolean {
  return body.type === 'USAGE' || body.timing === 'in_arrears';
}

function isWaiting({ isClosed, isLate, isRebilling }: ModelDue): boolean {
  return isClosed && (isLate || isRebilling);
}

function draftOf(subscription: ModelSubscription, cycle: number | null, finalizesAt: number): ModelInvoice {
  const nothing = { nth: 0, total: 0n, credits: 0n, paid: 0n, payments: [], takenBack: 0, isGivenUp: false };
  return { id: null, subscription, cycle, finalizesAt, status: 'DRAFT', adjustments: [], lines: [], ...nothing };
}

/** What was asked for, and is. */
function isLive({ invoice, isUndone }: DueLine): boolean {
  return invoice.status !== 'VOID' && !isUndone;
}

function sumsByOrigin(lines: readonly { line: DueLine }[]): Map<ModelInvoice, bigint> {
  const sums = new Map<ModelInvoice, bigint>();
  for (const { line } of lines) sums.set(line.invoice, (sums.get(line.invoice) ?? 0n) - line.amount);
  return sums;
}

function sumOfLines(lines: readonly { amount: bigint }[]): bigint {
  return lines.reduce((sum, { amount }) => sum + amount, 0n);
}

function sumOf({ lines, adjustments }: ModelInvoice): bigint {
  return adjustments.reduce((sum, amount) => sum + amount, sumOfLines(lines));
}
