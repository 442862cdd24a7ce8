// That alerts tell of each threshold that is reached, once for each period, and soon (docs/decisions/0084-alerts.md).

import { listsBy, type BillingState, type StoredFeedEvent } from './billing-state.ts';
import type { SentUsage } from './billed-usage.ts';
import { Check } from './check.ts';
import { microsOf, unitsOf } from './exact.ts';
import type { Facts } from './history-facts.ts';
import type { StoredEvent } from './stored-state.ts';
import { usageOf } from './usage-answers.ts';
import { knownAlerts, watchedUsage, type KnownAlert, type WatchedUsage } from './watched-usage.ts';

/** What the feed says of a threshold that was reached. */
interface Crossing {
  alert_id: string;
  customer_external_id: string;
  subscription_id: string | null;
  /** Of an amount; null: usage. */
  currency: string | null;
  period_start: string;
  period_end: string;
  threshold: string;
  value: string;
}

/** Usage that has reached a threshold, and the events of the feed that tell so. */
interface Reached extends WatchedUsage {
  threshold: string;
  told: StoredFeedEvent[];
}

const crossingOf = ({ data }: StoredFeedEvent): Crossing => data as unknown as Crossing;

/** What a crossing is known by, but for its threshold: usage is of the customer, an amount of the subscription. */
const nameOf = (alert: string, who: string, start: string, threshold: string): string =>
  `${alert} ${who} ${microsOf(start)} ${unitsOf(threshold)}`;

function nameOfCrossing(told: StoredFeedEvent): string {
  const { alert_id, customer_external_id, subscription_id, currency, period_start, threshold } = crossingOf(told);
  return nameOf(alert_id, currency === null ? customer_external_id : `${subscription_id}`, period_start, threshold);
}

const crossingsIn = ({ feed }: BillingState): StoredFeedEvent[] =>
  feed.filter(({ type }) => type === 'usage.threshold_reached');

/** Usage of these events, in units; of none it is 0. */
const unitsUsed = ({ aggregation }: KnownAlert, events: readonly StoredEvent[]): bigint =>
  unitsOf(usageOf(aggregation, events) ?? '0');

/** All that the events of the history have certainly reached. */
export function reachedBy(state: BillingState, facts: Facts, sent: SentUsage): Reached[] {
  const told = listsBy(crossingsIn(state), nameOfCrossing);
  return watchedUsage(state, facts, sent).flatMap((watched) => {
    const { alert, customer, subscription, start, events } = watched;
    const used = unitsUsed(alert, events);
    return alert.thresholds
      .filter((threshold) => used >= unitsOf(threshold))
      .map((threshold) => {
        const who = alert.meter === null ? `${subscription}` : customer;
        return { ...watched, threshold, told: told.get(nameOf(alert.id, who, start, threshold)) ?? [] };
      });
  });
}

/** An amount is rounded to a cent. */
const CENT = unitsOf('0.01');

export function thresholdsAreToldOnce(
  state: BillingState,
  facts: Facts,
  sent: SentUsage,
  reached: readonly Reached[],
): Check {
  const check = new Check(
    'alerts',
    'Each threshold that usage, or what it comes to, has reached in a period is told by the feed, once, and none that it never reached.',
  );
  for (const { alert, customer, start, threshold, events, told } of reached) {
    check.examine();
    if (told.length === 0)
      check.violate(
        `alert ${alert.id} never told that ${customer} had reached ${threshold} in the period from ${start}, by ${events.length} events`,
      );
  }
  const alerts = new Map(knownAlerts(facts).map((alert) => [alert.id, alert]));
  const seen = new Set<string>();
  for (const event of crossingsIn(state)) {
    check.examine();
    const crossing = crossingOf(event);
    const { alert_id, customer_external_id: customer, threshold, period_start, value } = crossing;
    const name = nameOfCrossing(event);
    const what = `alert ${alert_id} told with ${event.sequence} of organization ${event.organization} that ${customer} had reached ${threshold} in the period from ${period_start}`;
    if (seen.has(name)) check.violate(`${what}, once more`);
    seen.add(name);
    if (unitsOf(value) < unitsOf(threshold)) check.violate(`${what}, by ${value}`);
    const alert = alerts.get(alert_id);
    const most = alert && mostOf(state, facts, sent, { alert, crossing });
    if (most !== undefined && unitsOf(value) > most) check.violate(`${what}, by ${value}, which it never was`);
  }
  return check;
}

/** The most that a crossing can have read, with all that is void by now; undefined where only Weir knows what it comes to. */
function mostOf(
  { periods }: BillingState,
  { organizations }: Facts,
  sent: SentUsage,
  { alert, crossing }: { alert: KnownAlert; crossing: Crossing },
): bigint | undefined {
  const { organization, counted: meter } = alert;
  const { customer_external_id: customer, subscription_id, period_start, period_end } = crossing;
  const [start, end] = [microsOf(period_start), microsOf(period_end)];
  const most = unitsUsed(alert, sent.eventsOf({ organization, meter, customer, start, end }));
  if (alert.meter !== null) return most;
  const own = periods.filter((period) => period.subscription === subscription_id && period.start === start);
  const plan = organizations[organization]?.plans.at(-1);
  return own.every((period) => period.plan === plan) ? most + CENT : undefined;
}

/** Within this of the 201, where nothing fails. */
const TOLD_MS_MAX = 60_000;

/** What events have to pass between their 201 and the feed. */
const ON_THE_WAY = /(^|,)((worker|machine)-\d+(>[\w-]+)?|postgres|redis)(,|$)/;

/** How long after the 201 thresholds were told, where that is known. */
export function waitsOf(state: BillingState, facts: Facts, reached: readonly Reached[]): number[] {
  const when = new When(state, facts);
  return reached.flatMap((each) => when.wait(each)?.ms ?? []);
}

export function thresholdsAreToldInTime(state: BillingState, facts: Facts, reached: readonly Reached[]): Check {
  const check = new Check(
    'alerts in time',
    'A threshold is told within a minute of the 201 of the event that reaches it, or of the recovery from the last fault of a worker, Postgres or Redis before it.',
  );
  const when = new When(state, facts);
  const faults = facts.faults.filter(({ target }) => ON_THE_WAY.test(target));
  for (const each of reached) {
    const wait = when.wait(each);
    if (wait === undefined) continue;
    check.examine();
    const { alert, customer, start, threshold } = each;
    const recovered = faults
      .filter(({ at }) => at <= wait.toldAt)
      .map(({ until, recoveredAfter = 0 }) => until + recoveredAfter);
    const lateMs = wait.toldAt - Math.max(wait.toldAt - wait.ms, ...recovered);
    if (lateMs > TOLD_MS_MAX)
      check.violate(
        `alert ${alert.id} told after ${Math.round(lateMs)} ms that ${customer} had reached ${threshold} in the period from ${start}`,
      );
  }
  return check;
}

/** When thresholds were reached and told, in milliseconds of the run. */
class When {
  readonly #facts: Facts;
  /** By event, when it was first said to be accepted. */
  readonly #accepted = new Map<string, number>();
  /** By subscription, when it was made. */
  readonly #made = new Map<string, number>();

  constructor({ feed }: BillingState, facts: Facts) {
    this.#facts = facts;
    for (const { answers } of facts.keyHistories.values())
      for (const { id, at } of answers) this.#accepted.set(id, Math.min(at, this.#accepted.get(id) ?? Infinity));
    for (const { type, data, createdAt } of feed)
      if (type === 'subscription.created') this.#made.set(String(data['id']), this.#atOf(createdAt));
  }

  /** Undefined: it was not told, or an event that it takes was accepted without an answer. */
  wait({ alert, subscription, start, threshold, events, told }: Reached): { ms: number; toldAt: number } | undefined {
    const [first] = told;
    if (first === undefined) return undefined;
    const toldAt = this.#atOf(first.createdAt);
    const acceptedAt = ({ id }: StoredEvent): number => this.#accepted.get(id) ?? Infinity;
    const inOrder = events.toSorted((a, b) => acceptedAt(a) - acceptedAt(b) || 0);
    const last = inOrder[leastReaching(alert, inOrder, unitsOf(threshold)) - 1];
    const madeAt = subscription === null ? 0 : (this.#made.get(subscription) ?? 0);
    // Usage may be there before its period, or before the alert.
    const reachedAt = Math.max(
      last === undefined ? Infinity : acceptedAt(last),
      this.#atOf(start),
      madeAt,
      alert.madeAt,
    );
    return reachedAt === Infinity ? undefined : { ms: Math.max(0, toldAt - reachedAt), toldAt };
  }

  /** When the time of billing was at an instant; of what came after its end, when all had been told at the latest. */
  #atOf(instant: string): number {
    const { billingTime, lookedAt } = this.#facts;
    const [begin, end] = [billingTime[0], billingTime.at(-1)];
    const ms = Date.parse(instant);
    if (begin === undefined || end === undefined || ms >= end.instant) return lookedAt;
    return begin.at + ((ms - begin.instant) * (end.at - begin.at)) / (end.instant - begin.instant);
  }
}

/** How many of these events, from the first on, it takes to reach a threshold that all of them reach. */
function leastReaching(alert: KnownAlert, events: readonly StoredEvent[], threshold: bigint): number {
  let [low, high] = [1, events.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (unitsUsed(alert, events.slice(0, middle)) >= threshold) high = middle;
    else low = middle + 1;
  }
  return low;
}
