import type { UsageEvent } from '@weir/shared/event';
import { CompiledQuery } from 'kysely';
import { EVENT_JSON } from '../../event-json.ts';
import type { Queries } from '../../database.ts';
import { inStream, own, Parameters, type Scope } from '../../usage/usage-rows.ts';
import type { DueUsageQuestion } from './due-question.ts';

/** Which part of the list. */
export interface DueEventsPage {
  /** The id of the last event of the page before. */
  cursor?: string | undefined;
  limit: number;
}

/** From one closing to another: what came in after the first and before the second; null: until now. */
export interface ClosingSpan {
  from: number;
  before: number | null;
}

/**
 * The events that a due counts at its closing, by their time, then by id, at most `page.limit` of them. With `changesSince` only
 * those that were late for closing `from`, at which the due was settled before, and not for `before`. A cursor that is no event
 * of the organization has nothing after it.
 */
export async function listDueEvents(
  db: Queries,
  question: DueUsageQuestion,
  page: DueEventsPage,
  changesSince?: ClosingSpan,
): Promise<UsageEvent[]> {
  const { organizationId, meterId, customerExternalId, closing } = question;
  const parameters = new Parameters();
  const customer = parameters.add(customerExternalId, 'text');
  const scope = {
    organization: parameters.add(organizationId, 'uuid'),
    meter: parameters.add(meterId, 'uuid'),
    customer,
  };
  const inPage = conditions(parameters, scope, question, page.cursor);
  const limit = parameters.add(page.limit, 'bigint');
  const text =
    changesSince === undefined
      ? // By the index of streams, in its order: a page costs as much as it has events.
        `SELECT ${EVENT_JSON} AS event FROM events
         WHERE ${inStream(scope, customer)} AND ${inPage('id')}
           AND NOT EXISTS (SELECT FROM late_events AS late WHERE ${late(scope)} AND late."timestamp" = events."timestamp"
             AND late.event_id = events.id AND late.closing >= ${parameters.add(closing, 'bigint')})
         ORDER BY "timestamp", id LIMIT ${limit}`
      : `SELECT found.event FROM (
           SELECT "timestamp", event_id FROM late_events
           WHERE ${own(scope)} AND ${inPage('event_id')} AND closing >= ${parameters.add(changesSince.from, 'bigint')}
             AND closing < coalesce(${parameters.add(changesSince.before, 'bigint')}, 9223372036854775807)
           ORDER BY "timestamp", event_id LIMIT ${limit}
         ) AS late CROSS JOIN LATERAL (
           SELECT ${EVENT_JSON} AS event FROM events WHERE organization_id = ${scope.organization} AND id = late.event_id OFFSET 0
         ) AS found ORDER BY late."timestamp", late.event_id`;
  const { rows } = await db.executeQuery<{ event: string }>(CompiledQuery.raw(text, parameters.values));
  return rows.map(({ event }) => JSON.parse(event) as UsageEvent);
}

/** In the window, and after the cursor. */
function conditions(
  parameters: Parameters,
  { organization }: Scope,
  { start, end }: DueUsageQuestion,
  cursor: string | undefined,
): (id: string) => string {
  const inWindow = `"timestamp" >= ${parameters.instant(start)} AND "timestamp" < ${parameters.instant(end)}`;
  if (cursor === undefined) return () => inWindow;
  const last = parameters.add(cursor, 'uuid');
  const at = `(SELECT before."timestamp" FROM events AS before WHERE before.organization_id = ${organization} AND before.id = ${last})`;
  return (id) => `${inWindow} AND "timestamp" >= ${at} AND ("timestamp" > ${at} OR ${id} > ${last})`;
}

function late({ organization, meter, customer }: Scope): string {
  return `late.organization_id = ${organization} AND late.meter_id = ${meter} AND late.customer_external_id = ${customer}`;
}
