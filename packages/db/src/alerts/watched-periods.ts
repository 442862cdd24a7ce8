// Which periods of customers alerts are held against: of a meter those of the subscription that bills it, or else of the newest one; a
// month of the calendar where there is no subscription. A period that has just ended counts as well, also where another subscription
// bills the meter since: its last events may have been in the queue. A month that is to come counts where there is usage of it already:
// nobody opens it, so nothing would have it looked at when it begins.

import { groupBy } from '@weir/billing/group-by';
import { addMonths, dateOf, firstInstantOfDate } from '@weir/rating/local-date';
import { isoOf, microsOfText, type Micros } from '@weir/shared/instant';
import { AHEAD_DAYS_MAX } from '@weir/shared/limits';
import { sql } from 'kysely';
import type { Queries } from '../database.ts';
import { ofCustomer } from '../of-organization.ts';
import { ROLLUPS } from '../rollups.ts';

/** For so long after its end a period is still looked at. Nothing waits in the queue for longer while Postgres is there. */
const AFTER_END_HOURS = 24;

/** As many periods as may have ended in that time, by the day, with some that were cut by a change. */
const PERIODS_MAX = 8;

export interface WatchedPeriod {
  /** Null: a month of the calendar. */
  subscription_id: string | null;
  /** Null: a trial, or a month. */
  cycle: number | null;
  currency: string | null;
  period_start: string;
  period_end: string;
  /** The clocks that it goes by. */
  time_zone: string;
}

interface SubscribedPeriod extends WatchedPeriod {
  subscription_id: string;
  customer_external_id: string;
  currency: string;
  /** Whether the subscription goes on, also where its next period is not opened yet. */
  is_live: boolean;
}

/** Which subscriptions bill meters; only of customers who have several. */
interface Billing {
  /** By meter and customer, the subscription that bills it now. */
  now: ReadonlyMap<string, string>;
  /** Meter, subscription and cycle of what ended subscriptions billed. */
  ended: ReadonlySet<string>;
}

const NO_BILLING: Billing = { now: new Map(), ended: new Set() };

/** The periods of some customers. */
export class WatchedPeriods {
  readonly #ofCustomer: ReadonlyMap<string, SubscribedPeriod[]>;
  readonly #billing: Billing;
  readonly #months: readonly WatchedPeriod[];

  constructor(subscribed: readonly SubscribedPeriod[], billing: Billing, months: WatchedPeriod[]) {
    this.#ofCustomer = groupBy(subscribed, (period) => period.customer_external_id);
    this.#billing = billing;
    this.#months = months;
  }

  /** Those in which usage of a meter counts. */
  ofMeter(customer: string, meterId: string): readonly WatchedPeriod[] {
    const all = this.#ofCustomer.get(customer);
    if (all === undefined) return this.#months;
    const { now, ended } = this.#billing;
    const billing = now.get(`${meterId} ${customer}`);
    const chosen = all.some((period) => period.subscription_id === billing) ? billing : all[0]?.subscription_id;
    const own = all.filter(({ subscription_id: id, cycle }) => id === chosen || ended.has(`${meterId} ${id} ${cycle}`));
    return own.some((period) => period.is_live) ? own : [...own, ...this.#months];
  }

  /** Those of all subscriptions, but for trials, which cost nothing. */
  ofAmounts(customer: string): (SubscribedPeriod & { cycle: number })[] {
    return (this.#ofCustomer.get(customer) ?? []).flatMap((period) =>
      period.cycle === null ? [] : [{ ...period, cycle: period.cycle }],
    );
  }
}

/** What is looked at: some customers, and of which meters their usage is. */
interface Looked {
  customers: readonly string[];
  usage: readonly CustomerMeter[];
  /** Since when the oldest change has waited (ISO 8601). */
  since: string;
}

interface CustomerMeter {
  customer: string;
  meterId: string;
}

/** Finds the periods of customers that have begun, and that are open, or had not ended long before `since`; and months with usage. */
export async function findWatchedPeriods(
  db: Queries,
  organizationId: string,
  { customers, usage, since }: Looked,
): Promise<WatchedPeriods> {
  const own = sql`${organizationId}::uuid`;
  const after = sql`least(${since}::timestamptz, billing_now()) - make_interval(hours => ${AFTER_END_HOURS})`;
  const { rows: times } = await sql<{ now: string; after: string; time_zone: string }>`
    SELECT billing_now() AS now, ${after} AS after, time_zone FROM organizations WHERE id = ${own}`.execute(db);
  const [at] = times;
  if (at === undefined) return new WatchedPeriods([], NO_BILLING, []);
  // Each customer and subscription is asked for by itself, whatever Postgres thinks how many there are.
  const { rows } = await sql<SubscribedPeriod>`
    SELECT found.subscription_id, asked.customer AS customer_external_id, found.currency, found.is_live, period.cycle,
      period.period_start, period.period_end, found.time_zone
    FROM unnest(${customers}::text[]) AS asked (customer)
    CROSS JOIN LATERAL (
      SELECT id AS subscription_id, currency, cycle, current_period_start, current_period_end, time_zone, created_at,
        status <> 'CANCELED' AND coalesce(ended_at > billing_now(), true) AS is_live
      FROM subscriptions
      WHERE ${ofCustomer(organizationId, 'subscriptions.customer_external_id', sql`asked.customer`)} AND start_at <= billing_now()
        AND coalesce(ended_at, 'infinity') > ${at.after}::timestamptz OFFSET 0
    ) AS found
    CROSS JOIN LATERAL (
      (SELECT cycle, period_start, period_end FROM subscription_periods AS periods
        WHERE organization_id = ${own} AND periods.subscription_id = found.subscription_id
        ORDER BY cycle DESC LIMIT ${PERIODS_MAX})
      UNION ALL SELECT NULL, found.current_period_start, found.current_period_end WHERE found.cycle IS NULL
    ) AS period
    WHERE period.period_start <= billing_now() AND period.period_end > period.period_start
      AND (period.period_end > ${at.after}::timestamptz OR found.is_live AND period.cycle IS NOT DISTINCT FROM found.cycle)
    ORDER BY customer_external_id, found.is_live DESC, found.created_at DESC, found.subscription_id DESC`.execute(db);
  const live = new Set(rows.filter((row) => row.is_live).map((row) => row.customer_external_id));
  const until = await findEndOfUsage(
    db,
    organizationId,
    usage.filter(({ customer }) => !live.has(customer)),
    at.now,
  );
  const billing = usage.length === 0 ? NO_BILLING : await findBilling(db, organizationId, rows);
  return new WatchedPeriods(rows, billing, monthsOf({ ...at, until }));
}

/** The end of the last day (UTC) with usage of these, where that is later than `now`; else `now`. */
async function findEndOfUsage(
  db: Queries,
  organizationId: string,
  usage: readonly CustomerMeter[],
  now: string,
): Promise<string> {
  if (usage.length === 0) return now;
  const { rows } = await sql<{ until: string }>`
    SELECT least(greatest(max(found.day) + interval '24 hours' - interval '1 microsecond', ${now}::timestamptz),
      ${now}::timestamptz + make_interval(days => ${AHEAD_DAYS_MAX})) AS until
    FROM unnest(${usage.map(({ customer }) => customer)}::text[], ${usage.map(({ meterId }) => meterId)}::uuid[])
      AS asked (customer, meter)
    CROSS JOIN LATERAL (
      SELECT day FROM ${sql.table(ROLLUPS.customerUsageDays.table)}
      WHERE organization_id = ${organizationId}::uuid AND meter_id = asked.meter AND customer_external_id = asked.customer
      ORDER BY day DESC LIMIT 1
    ) AS found`.execute(db);
  return rows[0]?.until ?? now;
}

async function findBilling(
  db: Queries,
  organizationId: string,
  subscribed: readonly SubscribedPeriod[],
): Promise<Billing> {
  const first = new Map<string, string>();
  const several = new Set<string>();
  for (const { customer_external_id: customer, subscription_id: id } of subscribed) {
    const known = first.get(customer);
    if (known === undefined) first.set(customer, id);
    else if (known !== id) several.add(known).add(id);
  }
  if (several.size === 0) return NO_BILLING;
  const ended = subscribed.filter(
    ({ subscription_id: id, is_live, cycle }) => several.has(id) && !is_live && cycle !== null,
  );
  const { rows: billed } = await sql<{ key: string }>`
    SELECT due.meter_id::text || ' ' || asked.id::text || ' ' || asked.cycle::text AS key
    FROM unnest(${ended.map(({ subscription_id }) => subscription_id)}::uuid[], ${ended.map(({ cycle }) => cycle)}::integer[])
      AS asked (id, cycle)
    CROSS JOIN LATERAL (
      SELECT meter_id FROM dues
      WHERE organization_id = ${organizationId}::uuid AND dues.subscription_id = asked.id AND dues.cycle = asked.cycle
        AND meter_id IS NOT NULL OFFSET 0
    ) AS due`.execute(db);
  const { rows } = await sql<{ key: string; subscription_id: string }>`
    SELECT found.meter_id::text || ' ' || found.customer_external_id AS key, asked.id AS subscription_id
    FROM unnest(${[...several]}::uuid[]) AS asked (id)
    CROSS JOIN LATERAL (
      SELECT meter_id, customer_external_id FROM billed_meters
      WHERE organization_id = ${organizationId}::uuid AND subscription_id = asked.id
        AND coalesce(ended_at > billing_now(), true) OFFSET 0
    ) AS found`.execute(db);
  return {
    now: new Map(rows.map(({ key, subscription_id }) => [key, subscription_id])),
    ended: new Set(billed.map(({ key }) => key)),
  };
}

/** The months of the calendar from one time to another, as the organization's clocks have them. */
function monthsOf({ after, until, time_zone }: { after: string; until: string; time_zone: string }): WatchedPeriod[] {
  const months: WatchedPeriod[] = [];
  const first = (date: string): Micros => firstInstantOfDate(time_zone, date);
  let date = `${dateOf(time_zone, microsOfText(after)).slice(0, 7)}-01`;
  while (first(date) <= microsOfText(until)) {
    const next = addMonths(date, 1);
    const [period_start, period_end] = [isoOf(first(date)), isoOf(first(next))];
    months.push({ subscription_id: null, cycle: null, currency: null, period_start, period_end, time_zone });
    date = next;
  }
  return months;
}
