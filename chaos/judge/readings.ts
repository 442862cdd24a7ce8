// What the API says once all is over: usage of every meter, receipts of some events, and nothing of other organizations.

import { readMessage } from '../clients/client-context.ts';
import { USAGE_WINDOW } from '../clients/reading.ts';
import { isGrouped, REGIONS } from '../clients/regions.ts';
import type { OrganizationLine } from '../history.ts';
import { eachOf, type Questions } from './questions.ts';
import type { Facts } from './history-facts.ts';
import type { CrossReading } from './isolation.ts';
import type { ReceiptReading } from './receipts.ts';
import type { StoredEvent } from './stored-state.ts';
import type { UsageReading } from './usage-answers.ts';

/** Events are up to 40 days late. Whole days, so that a bucket is a whole hour or day. */
const DAYS_BEFORE = 60;
const DAYS_AFTER = 2;
const DAY_MS = 86_400_000;

/** Customers of each meter that are read by the hour. All by the hour would be a hundred megabytes of zeros. */
const CUSTOMERS_BY_HOUR = 3;

/** An answer has at most 10,000 buckets; the organizations that bill have a day of usage every few seconds. */
const DAYS_BY_HOUR_MAX = 300;

const RECEIPTS_READ = 2_000;
const CROSS_RECEIPTS_READ = 20;

/** The usage of every meter by the hour, of each of its customers by the day or by the hour, and of regions by the day. */
export async function readUsage(
  questions: Questions,
  organizations: OrganizationLine[],
  acknowledged: readonly StoredEvent[],
): Promise<UsageReading[]> {
  const customers = new Map<string, Set<string>>();
  const customersOf = (organization: number, meter: number) => {
    const name = `${organization} ${meter}`;
    const found = customers.get(name) ?? new Set();
    customers.set(name, found);
    return found;
  };
  for (const { organization, meter, customer } of acknowledged) customersOf(organization, meter).add(customer);
  const windows = organizations.map((organization) => windowOf(organization, acknowledged));
  const wanted = organizations.flatMap((organization) =>
    organization.meters.flatMap(({ id, aggregation }, meter) => {
      const parts: Pick<UsageReading, 'customer' | 'region'>[] = [{}];
      for (const customer of customersOf(organization.index, meter)) parts.push({ customer });
      if (isGrouped(aggregation)) for (const region of REGIONS) parts.push({ region });
      const isShort = (windows[organization.index]?.days ?? 0) <= DAYS_BY_HOUR_MAX;
      return parts.map((part, position) => {
        const grain = isShort && position <= CUSTOMERS_BY_HOUR ? 'hour' : 'day';
        return { organization, id, meter, part, grain };
      });
    }),
  );
  const readings: UsageReading[] = [];
  await eachOf(wanted, async ({ organization, id, meter, part, grain }) => {
    const { customer, region } = part;
    const ofCustomer = customer === undefined ? '' : `&customer_external_id=${encodeURIComponent(customer)}`;
    const ofRegion = region === undefined ? '' : `&filter[region]=${region}`;
    const path = `/meters/${id}/usage?${windows[organization.index]?.query}&group_by=${grain}${ofCustomer}${ofRegion}`;
    const { status, text } = await questions.ask(readMessage(organization, path));
    const body = status === 200 ? (JSON.parse(text) as UsageBody) : undefined;
    readings.push({
      organization: organization.index,
      meter,
      ...part,
      total: body === undefined ? `status ${status}` : body.total_usage,
      count: body?.event_count ?? 0,
      buckets: (body?.grouped_data ?? []).map(({ period_start, usage, event_count: count }) => {
        return { period: period_start.slice(0, grain === 'hour' ? 13 : 10), usage, count };
      }),
    });
  });
  return readings;
}

/** All the usage of an organization lies in its window: that of one that bills is of the time that it bills by. */
function windowOf(
  { index, plans }: OrganizationLine,
  acknowledged: readonly StoredEvent[],
): { query: string; days: number } {
  let [first, last] = [Date.now() - DAYS_BEFORE * DAY_MS, Date.now() + DAYS_AFTER * DAY_MS];
  const times = acknowledged.filter(({ organization }) => organization === index).map(({ timestamp }) => timestamp);
  if (plans.length > 0 && times.length > 0) {
    first = Date.parse(times.reduce((a, b) => (a < b ? a : b)));
    last = Date.parse(times.reduce((a, b) => (a > b ? a : b))) + DAY_MS;
  }
  const dateOf = (epochMs: number) => new Date(epochMs).toISOString().slice(0, 10);
  return { query: `start_date=${dateOf(first)}&end_date=${dateOf(last)}`, days: (last - first) / DAY_MS };
}

interface UsageBody {
  total_usage: string | null;
  event_count: number;
  grouped_data: { period_start: string; usage: string | null; event_count: number }[];
}

/** The receipts of events all over the run. */
export async function readReceipts(questions: Questions, facts: Facts, isKept: (id: string) => boolean) {
  const accepted = [...facts.keyHistories.values()].flatMap(({ organization, answers }) =>
    answers.filter(({ id, status }) => status === 201 && isKept(id)).map(({ id }) => ({ organization, id })),
  );
  const step = Math.max(1, Math.floor(accepted.length / RECEIPTS_READ));
  const readings: ReceiptReading[] = [];
  await eachOf(
    accepted.filter((_, index) => index % step === 0),
    async ({ organization, id }) => {
      const reader = facts.organizations[organization];
      if (reader === undefined) return;
      const { status, text } = await questions.ask(readMessage(reader, `/events/${id}`));
      readings.push({ id, status, body: status === 0 ? text : JSON.parse(text) });
    },
  );
  return readings;
}

/** Every organization reads what every other has, by its right ids. */
export async function readAcross(questions: Questions, facts: Facts): Promise<CrossReading[]> {
  const ids = facts.organizations.map(() => [] as string[]);
  for (const { organization, answers } of facts.keyHistories.values()) {
    const own = ids[organization];
    const id = answers[0]?.id;
    if (own !== undefined && id !== undefined && own.length < CROSS_RECEIPTS_READ) own.push(id);
  }
  const wanted = facts.organizations.flatMap((reader) =>
    facts.organizations
      .filter((owner) => owner !== reader)
      .flatMap((owner) =>
        [
          ...(ids[owner.index] ?? []).map((id) => `/events/${id}`),
          ...owner.meters.map(({ id }) => `/meters/${id}/usage?${USAGE_WINDOW}`),
          ...owner.meters.map(({ token }) => `/usage?meter_token=${token}&${USAGE_WINDOW}`),
          ...owner.customers.map(({ id }) => `/customers/${id}/usage`),
        ].map((path) => ({ reader, path })),
      ),
  );
  const readings: CrossReading[] = [];
  await eachOf(wanted, async ({ reader, path }) => {
    const { status } = await questions.ask(readMessage(reader, path));
    readings.push({ reader: reader.index, path, status });
  });
  return readings;
}
