import type { UsageEvent } from '@weir/shared/event';
import { CompiledQuery } from 'kysely';
import { AMENDS, CORRECTION_JSON, type EventCorrection } from '../../corrections/corrections.ts';
import { EVENT_JSON } from '../../event-json.ts';
import type { Queries } from '../../database.ts';
import { monthToAttach, MonthTakenOut } from '../../months-taken-out.ts';
import { everInStream, IS_VOID, Parameters, type Scope } from '../../usage/usage-rows.ts';
import type { DueUsageQuestion } from './due-question.ts';

/** Which part of the list. */
export interface DueEventsPage {
  /** What the page before named as its next. */
  cursor?: string | undefined;
  limit: number;
}

/** From one closing to another: what came in after the first and before the second; null: until now. */
export interface ClosingSpan {
  from: number;
  before: number | null;
}

/** An event of a due. */
export interface DueEvent {
  event: UsageEvent;
  /** What it changed between two closings; null where all that counts is asked for. */
  change: 'added' | 'removed' | null;
  /** What made it void, be it after the closing. */
  correction: EventCorrection | null;
  /** The event in whose place it counts. */
  amends: string | null;
}

/**
 * The events that a due counts at its closing, by their time, then by id, at most `page.limit` of them. With `changesSince` only
 * those that came in or were voided since closing `from`, at which the due was settled before, and not since `before`; what did both
 * changed nothing, and it throws MonthTakenOut where one of them is in a month that was taken out. A cursor that is no event of the
 * organization has nothing after it.
 */
export async function listDueEvents(
  db: Queries,
  question: DueUsageQuestion,
  page: DueEventsPage,
  changesSince?: ClosingSpan,
): Promise<DueEvent[]> {
  return toldOf(await readDueEvents(db, question, page, changesSince));
}

/** An event by its id, which is there also where the event was in a month that is lost for good. */
interface Listed {
  id: string;
  told: DueEvent | undefined;
}

const toldOf = (listed: readonly Listed[]): DueEvent[] => listed.flatMap(({ told }) => told ?? []);

async function readDueEvents(
  db: Queries,
  question: DueUsageQuestion,
  page: DueEventsPage,
  changesSince?: ClosingSpan,
): Promise<Listed[]> {
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
        `SELECT id, ${EVENT_JSON} AS event, NULL AS month, NULL AS change, ${CORRECTION_JSON} AS correction, ${AMENDS} AS amends FROM events
         WHERE ${everInStream(scope, customer)} AND ${inPage('id')} ${countedAt(scope, parameters.add(closing, 'bigint'))}
         ORDER BY "timestamp", id LIMIT ${limit}`
      : `SELECT late.id, found.event, CASE WHEN found.event IS NULL
             THEN ${monthToAttach('late."timestamp"', `= ${scope.organization}`, 'ARRAY[late.id]')} END AS month,
           CASE WHEN is_void THEN 'removed' ELSE 'added' END AS change, found.correction, found.amends FROM (
           SELECT late."timestamp", coalesce(late.voids, late.event_id) AS id, late.voids IS NOT NULL AS is_void
           FROM late_events AS late
           WHERE ${late(scope)} AND ${inPage('coalesce(late.voids, late.event_id)')} AND ${inSpan(parameters, changesSince)}
           ORDER BY late."timestamp", 2 LIMIT ${limit}
         ) AS late LEFT JOIN LATERAL (
           SELECT ${EVENT_JSON} AS event, ${CORRECTION_JSON} AS correction, ${AMENDS} AS amends
           FROM events WHERE organization_id = ${scope.organization} AND id = late.id OFFSET 0
         ) AS found ON true ORDER BY late."timestamp", late.id`;
  const { rows } = await db.executeQuery<
    { id: string; event: string | null; month: string | null } & Omit<DueEvent, 'event'>
  >(CompiledQuery.raw(text, parameters.values));
  return rows.map(({ id, event, month, ...row }) => {
    if (month !== null) throw new MonthTakenOut('What has changed cannot be told', month);
    return { id, told: event === null ? undefined : { ...row, event: JSON.parse(event) as UsageEvent } };
  });
}

/**
 * The same, and the cursor of the page after it; undefined where there is none. A page has fewer events, or none, where others of it were
 * in a month that is lost for good.
 */
export async function pageDueEvents(
  db: Queries,
  question: DueUsageQuestion,
  { cursor, limit }: DueEventsPage,
  changesSince?: ClosingSpan,
): Promise<{ events: DueEvent[]; next: string | undefined }> {
  const found = await readDueEvents(db, question, { cursor, limit: limit + 1 }, changesSince);
  const page = found.slice(0, limit);
  return { events: toldOf(page), next: found.length > limit ? page.at(-1)?.id : undefined };
}

/** A condition for what is recorded before a closing and not late for it, nor void by then. */
function countedAt(scope: Scope, closing: string): string {
  const then = `${late(scope)} AND late."timestamp" = events."timestamp" AND late.closing >= ${closing}`;
  return `AND NOT EXISTS (SELECT FROM late_events AS late WHERE ${then} AND late.event_id = events.id)
    AND (NOT ${IS_VOID} OR EXISTS (SELECT FROM late_events AS late WHERE ${then} AND late.voids = events.id))`;
}

/** A condition for the changes of a span, but for those that took each other back. */
function inSpan(parameters: Parameters, { from, before }: ClosingSpan): string {
  const [since, end] = [parameters.add(from, 'bigint'), parameters.add(before, 'bigint')];
  const within = (table: string): string =>
    `${table}.closing >= ${since} AND ${table}.closing < coalesce(${end}, 9223372036854775807)`;
  return `${within('late')} AND NOT EXISTS (SELECT FROM late_events AS other
    WHERE (other.organization_id, other.meter_id, other.customer_external_id, other."timestamp")
        = (late.organization_id, late.meter_id, late.customer_external_id, late."timestamp")
      AND ${within('other')} AND (other.voids = late.event_id OR other.event_id = late.voids))`;
}

/** In the window, and after the cursor. One that is lost is told by the change that it was. */
function conditions(
  parameters: Parameters,
  scope: Scope,
  { start, end }: DueUsageQuestion,
  cursor: string | undefined,
): (id: string) => string {
  const inWindow = `"timestamp" >= ${parameters.instant(start)} AND "timestamp" < ${parameters.instant(end)}`;
  if (cursor === undefined) return () => inWindow;
  const last = parameters.add(cursor, 'uuid');
  const at = `coalesce(
    (SELECT before."timestamp" FROM events AS before WHERE before.organization_id = ${scope.organization} AND before.id = ${last}),
    (SELECT late."timestamp" FROM late_events AS late WHERE ${late(scope)} AND ${last} IN (late.event_id, late.voids) LIMIT 1))`;
  return (id) => `${inWindow} AND "timestamp" >= ${at} AND ("timestamp" > ${at} OR ${id} > ${last})`;
}

function late({ organization, meter, customer }: Scope): string {
  return `late.organization_id = ${organization} AND late.meter_id = ${meter} AND late.customer_external_id = ${customer}`;
}
