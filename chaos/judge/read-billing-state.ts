// Reads what Weir holds of billing, in one snapshot, once its time has stopped and nothing is due any more.

import type pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { sessionHeaders } from '../clients/made-organizations.ts';
import { withClient } from '../environment/billing-time.ts';
import type { SystemUnderTest } from '../environment/system.ts';
import type { OrganizationLine } from '../history.ts';
import type {
  BillingState,
  OpenReading,
  StoredAlert,
  StoredDelivery,
  StoredDue,
  StoredFeedEvent,
  StoredGrant,
  StoredInvoice,
  StoredLate,
  StoredLine,
  StoredPayment,
  StoredPeriod,
  StoredSubscription,
} from './billing-state.ts';
import { eachOf, type Questions } from './questions.ts';

/** Resolves when nothing of billing is due any more. Returns false when that has not come in so many seconds. */
export function untilBilled({ databaseUrl }: SystemUnderTest, seconds: number): Promise<boolean> {
  const deadline = performance.now() + seconds * 1_000;
  return withClient(databaseUrl, async (client) => {
    while (performance.now() < deadline) {
      const { rows } = await client.query<{ is_due: boolean }>(
        `SELECT EXISTS (SELECT FROM subscriptions WHERE run_at <= billing_now())
           OR EXISTS (SELECT FROM invoices WHERE run_at <= billing_now()) AS is_due`,
      );
      if (rows[0]?.is_due === false) return true;
      await delay(100);
    }
    return false;
  });
}

/** Resolves when alerts were held against all usage that has changed, or after so many seconds. */
export function untilLooked({ databaseUrl }: SystemUnderTest, seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  return withClient(databaseUrl, async (client) => {
    for (;;) {
      const { rows } = await client.query<{ is_left: boolean }>(
        `SELECT EXISTS (SELECT FROM touched_usage)
           OR EXISTS (SELECT FROM alerts WHERE status = 'ACTIVE' AND looked_after IS NOT NULL) AS is_left`,
      );
      if (rows[0]?.is_left === false || performance.now() > deadline) return;
      await delay(100);
    }
  });
}

/**
 * Resolves when nothing is left to send to any endpoint of webhooks, or after so many seconds, with the last sequence of each feed by then,
 * by organization: later ones may be on their way. What waits for another attempt has it at once: by the schedule that would take hours.
 */
export function untilDelivered({ databaseUrl }: SystemUnderTest, seconds: number): Promise<Record<string, number>> {
  const deadline = performance.now() + seconds * 1_000;
  return withClient(databaseUrl, async (client) => {
    for (;;) {
      await client.query(
        `UPDATE webhook_deliveries SET next_attempt_at = now() WHERE status = 'PENDING' AND next_attempt_at > now()`,
      );
      const { rows } = await client.query<{ organization: string; sequence: number; is_left: boolean }>(
        `SELECT organization_id AS organization, last_sequence::int AS sequence,
           EXISTS (SELECT FROM webhook_deliveries WHERE status = 'PENDING') OR EXISTS (
             SELECT FROM webhook_endpoints JOIN billing_feeds AS feeds USING (organization_id)
             WHERE status = 'ACTIVE' AND webhook_endpoints.last_sequence < feeds.last_sequence) AS is_left
         FROM billing_feeds`,
      );
      if (rows.every((row) => !row.is_left) || performance.now() > deadline)
        return Object.fromEntries(rows.map(({ organization, sequence }) => [organization, sequence]));
      await delay(1_000);
    }
  });
}

const instant = (column: string) => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Rows of organizations that belong to the run, their own ones in place of ids. */
export async function readBillingState(
  { databaseUrl }: SystemUnderTest,
  organizations: readonly OrganizationLine[],
): Promise<BillingState> {
  const indexes = new Map(organizations.map(({ id, index }) => [id, index]));
  const meters = new Map(organizations.flatMap(({ meters: own }) => own.map(({ id }, index) => [id, index] as const)));
  return await withClient(databaseUrl, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const read = <T>(text: string) => readRows<T>(client, text, organizations, { indexes, meters });
    return {
      subscriptions: await read<StoredSubscription>(`
        SELECT organization_id AS organization, id, time_zone AS "timeZone", status, cycle,
          ${instant('ended_at')} AS "endedAt", run_at <= billing_now() AS "isDue"
        FROM subscriptions`),
      periods: await read<StoredPeriod>(`
        SELECT subscription_id AS subscription, cycle, plan_id AS plan, ${instant('period_start')} AS start,
          ${instant('period_end')} AS end
        FROM subscription_periods`),
      dues: await read<StoredDue>(`
        SELECT organization_id AS organization, subscription_id AS subscription, cycle, charge_id AS charge, meter_id AS meter,
          customer_external_id AS customer, ${instant('period_start')} AS start, ${instant('period_end')} AS end, closing::int
        FROM dues`),
      invoices: await read<StoredInvoice>(`
        SELECT organization_id AS organization, id, status, subscription_id AS subscription, cycle, invoice_number AS number,
          total::text, ${instant('finalized_at')} AS "finalizedAt", run_at <= billing_now() AS "isDue"
        FROM invoices`),
      lines: await read<StoredLine>(`
        SELECT id, invoice_id AS invoice, subscription_id AS subscription, cycle, charge_id AS charge, quantity::text,
          event_count::int AS "eventCount", amount::text, closing::int
        FROM invoice_lines`),
      late: await read<StoredLate>(
        `SELECT event_id AS event, closing::int FROM (SELECT * FROM late_events WHERE voids IS NULL) AS late`,
      ),
      voided: await read<StoredLate>(
        `SELECT voids AS event, closing::int FROM (SELECT * FROM late_events WHERE voids IS NOT NULL) AS voided`,
      ),
      grants: await read<StoredGrant>('SELECT organization_id AS organization, id, amount::text FROM credit_grants'),
      payments: await read<StoredPayment>(`
        SELECT id, invoice_id AS invoice, amount::text, reference, taken_back_at IS NOT NULL AS "isTakenBack" FROM payments`),
      feed: await read<StoredFeedEvent>(
        `SELECT organization_id AS organization, sequence::int, type, ${instant('created_at')} AS "createdAt", data FROM billing_events`,
      ),
      alerts: await read<StoredAlert>('SELECT organization_id AS organization, id FROM alerts'),
      deliveries: await read<StoredDelivery>(
        `SELECT endpoint_id AS endpoint, sequence::int, attempt_count AS attempts,
           floor(extract(epoch FROM (attempts -> 0 ->> 'at')::timestamptz))::float8 AS "firstAt" FROM webhook_deliveries`,
      ),
      open: [],
    };
  });
}

async function readRows<T>(
  client: pg.Client,
  text: string,
  organizations: readonly OrganizationLine[],
  { indexes, meters }: { indexes: Map<string, number>; meters: Map<string, number> },
): Promise<T[]> {
  const ids = organizations.map(({ id }) => id);
  const { rows } = await client.query<Record<string, unknown>>(`${text} WHERE organization_id = ANY ($1::uuid[])`, [
    ids,
  ]);
  for (const row of rows) {
    if ('organization' in row) row['organization'] = indexes.get(String(row['organization'])) ?? -1;
    if ('meter' in row) row['meter'] = meters.get(String(row['meter'])) ?? -1;
    if ('isDue' in row) row['isDue'] = row['isDue'] === true;
  }
  return rows as T[];
}

interface ReadLine {
  charge_id: string | null;
  cycle: number | null;
  quantity: string | null;
}

/** What the API says of dues that no finalized invoice has settled: of drafts, and of the periods under way. */
export async function readOpenDues(
  questions: Questions,
  organizations: readonly OrganizationLine[],
  { subscriptions, invoices, dues }: Pick<BillingState, 'subscriptions' | 'invoices' | 'dues'>,
): Promise<OpenReading[]> {
  const open = new Set(
    dues.filter(({ closing }) => closing === null).map((due) => `${due.subscription} ${due.charge} ${due.cycle}`),
  );
  const readings: OpenReading[] = [];
  const ask = async (organization: number, path: string): Promise<string | undefined> => {
    const session = organizations[organization]?.session ?? '';
    const { status, text } = await questions.ask({
      method: 'GET',
      path: `/api/v1${path}`,
      headers: sessionHeaders(session),
    });
    return status === 200 ? text : undefined;
  };
  const drafts = invoices.filter(({ status }) => status === 'DRAFT');
  await eachOf(drafts, async ({ id, organization, subscription }) => {
    const text = await ask(organization, `/invoices/${id}`);
    const { lines } = JSON.parse(text ?? '{"lines":[]}') as { lines: ReadLine[] };
    for (const { charge_id: charge, cycle, quantity } of lines) {
      // Others settle what is late for a due that is closed.
      if (charge === null || cycle === null || quantity === null || !open.has(`${subscription} ${charge} ${cycle}`))
        continue;
      readings.push({ subscription, cycle, charge, quantity });
    }
  });
  const running = subscriptions.filter(({ status, cycle }) => status !== 'CANCELED' && cycle !== null);
  await eachOf(running, async ({ id, organization, cycle }) => {
    const text = await ask(organization, `/subscriptions/${id}/usage`);
    const { data } = JSON.parse(text ?? '{"data":[]}') as { data: { charge_id: string; quantity: string }[] };
    for (const { charge_id: charge, quantity } of data)
      readings.push({ subscription: id, cycle: cycle ?? 0, charge, quantity });
  });
  return readings;
}
