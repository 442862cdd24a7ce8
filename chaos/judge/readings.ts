// What the API says once all is over: usage of every meter, receipts of some events, and nothing of other organizations.

import { readMessage } from '../clients/client-context.ts';
import { USAGE_WINDOW } from '../clients/reading.ts';
import type { OrganizationLine } from '../history.ts';
import { eachOf, type Questions } from './questions.ts';
import type { Facts } from './history-facts.ts';
import type { CrossReading } from './isolation.ts';
import type { ReceiptReading } from './receipts.ts';
import type { UsageReading } from './usage-answers.ts';

/** Customers of each meter whose usage is read as well. */
const CUSTOMERS_READ = 3;

const RECEIPTS_READ = 2_000;
const CROSS_RECEIPTS_READ = 20;

export async function readUsage(questions: Questions, organizations: OrganizationLine[]): Promise<UsageReading[]> {
  const wanted = organizations.flatMap((organization) =>
    organization.meters.flatMap((meter, index) =>
      [undefined, ...organization.customers.slice(0, CUSTOMERS_READ)].map((customer) => ({
        organization,
        meter,
        index,
        customer,
      })),
    ),
  );
  const readings: UsageReading[] = [];
  await eachOf(wanted, async ({ organization, meter, index, customer }) => {
    const filter = customer === undefined ? '' : `&customer_external_id=${encodeURIComponent(customer.externalId)}`;
    const path = `/meters/${meter.id}/usage?${USAGE_WINDOW}${filter}`;
    const { status, text } = await questions.ask(readMessage(organization, path));
    const body = status === 200 ? (JSON.parse(text) as { total_usage: string | null; event_count: number }) : undefined;
    readings.push({
      organization: organization.index,
      meter: index,
      ...(customer !== undefined && { customer: customer.externalId }),
      total: body === undefined ? `status ${status}` : body.total_usage,
      count: body?.event_count ?? 0,
    });
  });
  return readings;
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
