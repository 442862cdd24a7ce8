// An organization that lives by chance, told to Weir and to the model in the same order: customers who subscribe, use, pay or do not,
// and admins who change prices, void, give up, bill again, cancel and settle.

import { AGGREGATION_TYPES, type AggregationType } from '@weir/shared/meter';
import { dateAfter, type ModelInterval } from './calendar.ts';
import { amountText } from './fractions.ts';
import {
  Ledger,
  type ModelCustomer,
  type ModelInvoice,
  type ModelPlan,
  type ModelPrice,
  type ModelSubscription,
} from './ledger.ts';
import { fixedCharge, usageCharge } from './random-charges.ts';
import { dueOf, Wallet } from './wallet.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Random } from '../../../chaos/random.ts';
import type { Invoicing, PricedMeter } from '../invoicing.ts';

const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Auckland'] as const;
const CURRENCIES = [
  { currency: 'USD', digits: 2 },
  { currency: 'JPY', digits: 0 },
  { currency: 'KWD', digits: 3 },
] as const;
/** Most by the day, so that many invoices come of a few weeks. */
const INTERVALS: readonly ModelInterval[] = ['day', 'day', 'day', 'week', 'week', 'month'];

const HOUR = 3_600_000;

interface Metered extends PricedMeter {
  aggregation: AggregationType;
}

export class Life {
  readonly ledger: Ledger;
  readonly #billing: Invoicing;
  readonly #random: Random;
  readonly #meters: Metered[];
  readonly #plans: ModelPlan[] = [];
  readonly #customers: ModelCustomer[] = [];
  readonly #zone: string;
  #number = '';
  changes = 0;
  /** Prices that were to begin later than now when they were made. */
  readonly announced = new Set<string>();
  pricesTakenBack = 0;

  private constructor(
    billing: Invoicing,
    random: Random,
    meters: Metered[],
    { zone, graceHours }: { zone: string; graceHours: number },
  ) {
    this.#billing = billing;
    this.#random = random;
    this.#meters = meters;
    this.#zone = zone;
    this.ledger = new Ledger(graceHours, new Map(meters.map(({ id, aggregation }) => [id, aggregation])));
  }

  static async start(billing: Invoicing, random: Random): Promise<Life> {
    const graceHours = random.pick([0, 1, 30]);
    const zone = random.pick(ZONES);
    const settings = { invoice_grace_hours: graceHours, time_zone: zone };
    await billing.request('PATCH', '/billing/settings', settings);
    const meters: Metered[] = [];
    for (const aggregation of AGGREGATION_TYPES) meters.push({ ...(await billing.meter(aggregation)), aggregation });
    return new Life(billing, random, meters, { zone, graceHours });
  }

  get customers(): readonly ModelCustomer[] {
    return this.#customers;
  }

  /** Makes plans and customers, as of an instant. */
  async furnish(now: number, { plans, customers }: { plans: number; customers: number }): Promise<void> {
    for (let at = 0; at < plans; at += 1) await this.#makePlan(now);
    for (let at = 0; at < customers; at += 1) {
      const zone = this.#random.pick(ZONES);
      const { id, external_id } = await this.#billing.customer({ time_zone: zone });
      this.#customers.push({ id, externalId: external_id, zone, wallet: new Wallet(), uses: new Map() });
    }
  }

  /** What happens at an instant. The run has been there, or is late. Nothing else moves meanwhile. */
  async happen(now: number): Promise<void> {
    const random = this.#random;
    for (const customer of this.#customers) {
      if (random.chance(0.15)) await this.#subscribe(customer, now);
      if (random.chance(0.04)) await this.#grant(customer, now);
    }
    await this.#use(now);
    if (random.chance(0.5)) await this.#replacePrice(now);
    for (const subscription of this.ledger.subscriptions) {
      if (subscription.isEnded) {
        if (random.chance(0.05)) await this.#settle(subscription.id, now);
        continue;
      }
      // Its end has passed, and the run has not seen it yet: nothing can be asked of it.
      if (subscription.endsWithPeriod && subscription.end <= now) continue;
      // What was voided matters when something of it would come back.
      const isVoided = this.ledger.invoices.some(
        (each) => each.subscription === subscription && each.status === 'VOID',
      );
      if (random.chance(isVoided ? 0.06 : 0.02)) await this.#cancel(subscription.id, now);
      if (!subscription.isEnded && random.chance(0.06)) await this.#changePlan(subscription, now);
      // What was voided is billed again before its next invoice.
      if (subscription.dues.some((due) => due.isRebilling) && random.chance(0.3))
        await this.#settle(subscription.id, now);
      const draft = this.ledger.firstDraft(subscription);
      if (draft !== undefined && random.chance(0.06)) await this.#adjust(draft);
      if (draft !== undefined && random.chance(0.05)) await this.#finalize(draft, now);
    }
    for (const invoice of this.ledger.invoices) {
      if (invoice.status === 'OPEN' && random.chance(0.25)) await this.#changeInvoice(invoice);
      else if (invoice.status === 'UNCOLLECTIBLE' && random.chance(0.1)) await this.#changeInvoice(invoice);
      else if (invoice.payments.length > 0 && random.chance(0.04)) await this.#takeBack(invoice);
    }
  }

  /** What the run finalized, as its numbers have it: the model follows in that order. Throws where it expected others. */
  follow(
    finalized: readonly { id: string; subscription_id: string; cycle: number | null; number: string }[],
    now: number,
  ) {
    const expected = new Set(this.ledger.dueDrafts(now));
    for (const { id, subscription_id, cycle, number } of finalized) {
      const invoice = [...expected].find((each) => each.subscription.id === subscription_id && each.cycle === cycle);
      if (invoice === undefined)
        throw new Error(`${number}, of ${subscription_id} and cycle ${cycle}, was not expected`);
      if (this.ledger.firstDraft(invoice.subscription) !== invoice) throw new Error(`${number} came before its turn`);
      if (number <= this.#number) throw new Error(`${number} came after ${this.#number}`);
      this.#number = number;
      expected.delete(invoice);
      if (!this.ledger.finalize(invoice, now)) throw new Error(`${number} has lines, and the model has none`);
      invoice.id = id;
    }
    for (const invoice of expected) {
      if (this.ledger.finalize(invoice, now))
        throw new Error(`the draft of ${invoice.subscription.id} and cycle ${invoice.cycle} was not finalized`);
    }
  }

  async #makePlan(now: number): Promise<void> {
    const random = this.#random;
    const { currency, digits } = random.pick(CURRENCIES);
    const meters = random.shuffle(this.#meters).slice(0, random.pick([0, 1, 2, 3]));
    const bodies = meters.map((meter) => usageCharge(random, meter.id, digits));
    if (meters.length === 0 || random.chance(0.7)) bodies.push(fixedCharge(random, digits));
    if (random.chance(0.3)) bodies.push(fixedCharge(random, digits));
    const interval = random.pick(INTERVALS);
    const { id, charges } = await this.#billing.plan(bodies, { billing_interval: interval, currency });
    this.#plans.push({
      id,
      interval,
      currency,
      digits,
      prices: bodies.map((body, at) => ({ id: charges[at] ?? '', body, from: now, to: Infinity, replaces: null })),
    });
  }

  async #subscribe(customer: ModelCustomer, now: number): Promise<void> {
    const random = this.#random;
    const plan = random.pick(this.#plans);
    const live = this.ledger.subscriptions.filter((each) => each.customer === customer && !each.isEnded);
    const taken = new Set(live.flatMap((each) => metersOf(each.plan)));
    if (live.length >= 3 || metersOf(plan).some((meter) => taken.has(meter))) return;
    // Where a meter was billed before, only from now on: its dues must not overlap.
    const mayBePast = live.length === 0 && customer.uses.size === 0;
    const start = random.chance(0.2)
      ? now + random.int(1, 120) * HOUR
      : random.chance(0.3) && mayBePast
        ? now - random.int(0, 60) * HOUR
        : now;
    const alignment = random.pick(['anniversary', 'calendar'] as const);
    const { id, billing_interval: interval } = await this.#billing.post(
      '/subscriptions',
      { plan_id: plan.id, customer_id: customer.id, start_date: isoOf(start), billing_alignment: alignment },
      201,
    );
    const schedule = { zone: customer.zone, interval, alignment, start };
    // Those of the customer that have ended let go of their meters before.
    for (const each of this.ledger.subscriptions) if (each.customer === customer) this.ledger.bringUpToDate(each, now);
    this.ledger.subscribe({ id, customer, plan, schedule, createdAt: now });
  }

  async #grant(customer: ModelCustomer, now: number): Promise<void> {
    const random = this.#random;
    const { currency, digits } = random.pick(CURRENCIES);
    const cents = BigInt(random.int(1, 9_999));
    const expiresAt = random.chance(0.3) ? now + random.int(1, 200) * HOUR : Infinity;
    const priority = random.int(0, 2);
    const body = {
      amount: amountText(cents, digits),
      currency,
      priority,
      ...(expiresAt !== Infinity && { expires_at: isoOf(expiresAt) }),
    };
    await this.#billing.post(`/customers/${customer.id}/credits`, body, 201);
    customer.wallet.add({ currency, left: cents, priority, expiresAt });
  }

  /** On time, and late by up to some weeks. */
  async #use(now: number): Promise<void> {
    const random = this.#random;
    const events = [];
    for (const subscription of this.ledger.subscriptions) {
      const { customer, plan } = subscription;
      if (subscription.isEnded && random.chance(0.8)) continue;
      for (const meter of this.#meters.filter(({ id }) => metersOf(plan).includes(id))) {
        if (random.chance(0.3)) continue;
        const back = random.chance(0.2) ? 24 * 20 * HOUR : 7 * HOUR;
        const uses = customer.uses.get(meter.id) ?? [];
        let at = now - random.int(1, back);
        while (uses.some((use) => use.at === at)) at -= 1;
        const quantity = random.int(1, 200) / 10;
        const user = `user-${random.int(1, 5)}`;
        this.ledger.use(customer, meter.id, { at, quantity: String(quantity), user });
        events.push({ meter, customer: customer.externalId, quantity, at: isoOf(at), metadata: { user_id: user } });
      }
    }
    if (events.length > 0) await this.#billing.track(events);
  }

  /** Now, or from a time to come on. What has not begun may be replaced as well, or is taken back. */
  async #replacePrice(now: number): Promise<void> {
    const random = this.#random;
    const plan = random.pick(this.#plans);
    const price = random.pick(plan.prices.filter(({ to }) => to === Infinity));
    const path = `/plans/${plan.id}/charges`;
    if (price.from > now && random.chance(0.3)) return await this.#takeBackPrice(price, path);
    const { meter_id } = price.body;
    const { digits } = plan;
    const body = meter_id === undefined ? fixedCharge(random, digits) : usageCharge(random, meter_id, digits);
    const soonest = Math.max(now, price.from);
    const later = random.chance(0.6) ? this.#later(soonest) : undefined;
    const place = { replaces: price.id, ...(later !== undefined && { effective_from: later.text }) };
    const { id } = await this.#billing.post(path, { ...body, ...place }, 201);
    const at = later?.at ?? soonest;
    if (at > now) this.announced.add(id);
    this.ledger.replacePrice(plan, price, { id, body }, at);
  }

  async #takeBackPrice(price: ModelPrice, path: string): Promise<void> {
    const { status } = await this.#billing.request('PATCH', `${path}/${price.id}`, { status: 'INACTIVE' });
    if (status !== 200) throw new Error(`taking the price ${price.id} back was answered ${status}`);
    this.ledger.takeBackPrice(price);
    this.pricesTakenBack += 1;
  }

  /** Up to two weeks after an instant: a full hour, or a date of the organization, at many of which periods begin. */
  #later(than: number): { text: string; at: number } {
    const random = this.#random;
    const days = random.int(1, random.pick([1, 2, 14]));
    const { date, at } = dateAfter(this.#zone, than, days);
    if (random.chance(0.5)) return { text: date, at };
    const hour = (Math.floor(than / HOUR) + random.int(1, 24 * days)) * HOUR;
    return { text: isoOf(hour), at: hour };
  }

  async #cancel(id: string, now: number): Promise<void> {
    const subscription = this.#subscription(id);
    const atEnd = this.#random.chance(0.4);
    await this.#billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: atEnd });
    this.ledger.bringUpToDate(subscription, now);
    // Before its start there is no period to wait for.
    if (atEnd && subscription.cycle !== null) subscription.endsWithPeriod = true;
    else this.ledger.cancelNow(subscription, now);
  }

  /** Sees before what comes of it, which has to be what comes of it. */
  async #changePlan(subscription: ModelSubscription, now: number): Promise<void> {
    const { id, customer, plan: from, schedule } = subscription;
    const others = this.ledger.subscriptions.filter(
      (each) => each !== subscription && each.customer === customer && !each.isEnded,
    );
    const taken = new Set(others.flatMap((each) => metersOf(each.plan)));
    const isToCome = subscription.cycle === null && subscription.end > now;
    const mayChangeTo = this.#plans.filter((plan) => {
      const isOther = plan !== from && plan.currency === from.currency;
      const isFitting = isToCome || plan.interval === schedule.interval;
      return isOther && isFitting && !metersOf(plan).some((meter) => taken.has(meter));
    });
    if (mayChangeTo.length === 0) return;
    const plan = this.#random.pick(mayChangeTo);
    const { invoice } = await this.#billing.post(`/subscriptions/${id}/preview-change`, { plan_id: plan.id });
    const changed = await this.#billing.post(`/subscriptions/${id}/change`, { plan_id: plan.id, when: 'now' });
    this.ledger.changeNow(subscription, plan, now);
    this.changes += 1;
    const made = (await this.#billing.drafts(id)).find(({ cycle }) => cycle === changed.cycle);
    const { lines = [], ...shown } = made === undefined ? {} : await this.#billing.get(`/invoices/${made.id}`);
    const { id: _, invoice_number: __, payments: ___, ...whole } = shown;
    const expected = made === undefined ? null : { ...whole, lines: lines.map(withoutId) };
    if (!isDeepStrictEqual(invoice, expected))
      throw new Error(
        `the preview of a change of ${id} was ${JSON.stringify(invoice)}, and it made ${JSON.stringify(expected)}`,
      );
  }

  async #settle(id: string, now: number): Promise<void> {
    const subscription = this.#subscription(id);
    if (this.ledger.firstDraft(subscription) !== undefined) return;
    const { status, body } = await this.#billing.request('POST', `/subscriptions/${id}/settle`);
    const invoice = this.ledger.settle(subscription, now);
    if (status !== (invoice === undefined ? 200 : 201))
      throw new Error(`settling ${id} was answered ${status}, and the model has ${invoice?.total}`);
    if (invoice !== undefined) this.#issued(invoice, body.invoice);
  }

  async #adjust(draft: ModelInvoice): Promise<void> {
    const cents = BigInt(this.#random.int(-20_000, 5_000));
    if (cents === 0n) return;
    const id = await this.#idOfDraft(draft);
    const amount = amountText(cents, draft.subscription.plan.digits);
    await this.#billing.post(`/invoices/${id}/lines`, { description: 'Added', amount }, 201);
    draft.adjustments.push(cents);
  }

  async #finalize(draft: ModelInvoice, now: number): Promise<void> {
    const answer = await this.#billing.post(`/invoices/${await this.#idOfDraft(draft)}/finalize`);
    if (!this.ledger.finalize(draft, now))
      throw new Error(`${answer.invoice_number} has lines, and the model has none`);
    this.#issued(draft, answer);
  }

  async #changeInvoice(invoice: ModelInvoice): Promise<void> {
    const random = this.#random;
    const changes = ['pay', 'pay', 'pay', 'void', 'rebill', ...(invoice.status === 'OPEN' ? ['uncollectible'] : [])];
    const change = random.pick(changes);
    if (change === 'pay') return await this.#pay(invoice);
    const isVoid = change !== 'uncollectible';
    const path = `/invoices/${invoice.id}/${isVoid ? 'void' : change}`;
    // What was paid in part is not to be for nothing, and nobody keeps what nobody paid.
    const isRefused = isVoid && (invoice.paid > 0n || !this.ledger.void(invoice, change === 'rebill'));
    await this.#billing.post(path, change === 'rebill' ? { rebill: true } : {}, isRefused ? 409 : 200);
    if (!isVoid) this.ledger.giveUp(invoice);
  }

  /** All that is due, or a part of it. */
  async #pay(invoice: ModelInvoice): Promise<void> {
    const { digits } = invoice.subscription.plan;
    const due = dueOf(invoice);
    const part = this.#random.chance(0.4) ? BigInt(this.#random.int(1, Number(due))) : due;
    const path = `/invoices/${invoice.id}/pay`;
    if (this.#random.chance(0.1)) await this.#billing.post(path, { amount: amountText(due + 1n, digits) }, 409);
    await this.#billing.post(path, part === due ? {} : { amount: amountText(part, digits) });
    this.ledger.pay(invoice, part);
  }

  async #takeBack(invoice: ModelInvoice): Promise<void> {
    const at = this.#random.int(0, invoice.payments.length - 1);
    const { payments } = await this.#billing.get(`/invoices/${invoice.id}`);
    const standing = payments.filter((each: { taken_back_at: string | null }) => each.taken_back_at === null);
    const path = `/invoices/${invoice.id}/payments/${standing[at].id}`;
    const { status } = await this.#billing.request('DELETE', path, { note: 'By mistake' });
    if (status !== 204) throw new Error(`taking ${path} back was answered ${status}`);
    this.ledger.takeBack(invoice, at);
  }

  #issued(invoice: ModelInvoice, { id, invoice_number }: { id: string; invoice_number: string }): void {
    invoice.id = id;
    this.#number = invoice_number;
  }

  #subscription(id: string) {
    const found = this.ledger.subscriptions.find((each) => each.id === id);
    if (found === undefined) throw new Error(`there is no subscription ${id}`);
    return found;
  }

  async #idOfDraft({ subscription, cycle }: ModelInvoice): Promise<string> {
    const drafts = await this.#billing.drafts(subscription.id);
    const found = drafts.find((each) => each.cycle === cycle);
    if (found === undefined) throw new Error(`${subscription.id} has no draft of cycle ${cycle}`);
    return found.id;
  }
}

function metersOf({ prices }: ModelPlan): string[] {
  return prices.flatMap(({ body }) => body.meter_id ?? []);
}

function withoutId(line: { id: string }): object {
  const { id: _, ...rest } = line;
  return rest;
}

export function isoOf(at: number): string {
  return new Date(at).toISOString();
}

/** What an invoice should say of itself. */
export function expectedOf(invoice: ModelInvoice) {
  const { digits } = invoice.subscription.plan;
  const amount = (minor: bigint) => amountText(minor, digits);
  const lines = invoice.lines.map((line) => ({
    charge_id: line.due.charge,
    cycle: line.due.cycle,
    period_start: isoOf(line.due.period.start),
    period_end: isoOf(line.end),
    days: line.days === null ? null : `${line.days.inForce}/${line.days.inPeriod}`,
    billed_before: amount(line.billedBefore),
    amount: amount(line.amount),
    waived: line.waived === 0n ? null : amount(line.waived),
    event_count: line.events,
  }));
  return {
    status: invoice.status,
    total: amount(invoice.total),
    credits_applied: amount(invoice.credits),
    amount_paid: amount(invoice.paid),
    amount_due: amount(dueOf(invoice)),
    payments: invoice.payments.map(amount),
    lines,
  };
}
