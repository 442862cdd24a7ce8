// What corrections would do, found out by doing them and taking them back: usage by customer and month, before and after, and the invoices
// that hold the events. Before and after are read by the statement that reads usage at a closing: after is what is recorded then, and
// before what is recorded without what this transaction did, which is late for a closing that is later than all.

import { LIMITS } from '@weir/shared/limits';
import { microsOfText } from '@weir/shared/instant';
import type { AggregationType } from '@weir/shared/meter';
import { monthIn, type Month } from '@weir/shared/months';
import { sql } from 'kysely';
import { plainArray } from '../array-text.ts';
import { getBillingSettings } from '../billing/billing-settings.ts';
import { withoutKeeping } from '../billing/snapshot.ts';
import { readUsageOfDues } from '../billing/usage/due-usage.ts';
import type { Database, Queries } from '../database.ts';
import type { Usage } from '../usage/read-usage.ts';
import { findTouchedInvoices, type TouchedInvoice } from './touched-invoices.ts';
import {
  correctEvents,
  type AskedCorrection,
  type ChangedEvent,
  type Corrected,
  type StopWatch,
} from './correct-events.ts';

/** What a customer's usage of a meter is in a calendar month, and what it would be. */
export interface ChangedUsage {
  meter_id: string;
  meter_name: string;
  aggregation_type: AggregationType;
  unit: string | null;
  customer_external_id: string;
  /** `2026-11`. */
  month: string;
  /** How many of its events would be void. */
  events: number;
  new_events: number;
  /** As {@link Usage} has it; null where there is none. */
  before: string | null;
  after: string | null;
}

export interface CorrectionsPreview {
  /** In which months begin. */
  time_zone: string;
  /** The first ones: those with most of the events. */
  usage: ChangedUsage[];
  usage_total: number;
  /** The first ones. */
  invoices: TouchedInvoice[];
  invoices_total: number;
}

/** What corrections would do, or why they cannot be made. */
export type Previewed =
  | { outcome: 'previewed'; preview: CorrectionsPreview }
  | Exclude<Corrected, { outcome: 'corrected' }>;

/**
 * Says what {@link correctEvents} would do, and changes nothing. Throws what it throws: see `whileInTheWay`. What reads no usage comes
 * when recording goes on again.
 */
export async function previewCorrections(
  database: Database,
  organizationId: string,
  actor: string,
  asked: readonly AskedCorrection[],
  watch?: StopWatch,
): Promise<Previewed> {
  const { time_zone } = await getBillingSettings(database.kysely, organizationId);
  const done = await withoutKeeping(database, async (transaction) => {
    const corrected = await correctEvents(database, transaction, organizationId, actor, asked, watch?.onStop);
    if (corrected.outcome !== 'corrected') return corrected;
    const { changed, queries } = corrected;
    const all = touchedUsage(changed, time_zone);
    const shown = all.slice(0, LIMITS.previewRows);
    await markAsLate(queries, organizationId, changed);
    return { ...corrected, all, shown, usage: await readBoth(queries, organizationId, shown) };
  }).finally(() => watch?.onEnd());
  if (done.outcome !== 'corrected') return done;
  const meters = await findMeters(database.kysely, organizationId, done.shown);
  const usage = done.shown.map((touched, index): ChangedUsage => {
    const { meterId, aggregation, customer, month, events, newEvents } = touched;
    const { name = '', unit = null } = meters.get(meterId) ?? {};
    return {
      meter_id: meterId,
      meter_name: name,
      aggregation_type: aggregation,
      unit,
      customer_external_id: customer,
      month: month.name,
      events,
      new_events: newEvents,
      before: done.usage[index]?.usage ?? null,
      after: done.usage[done.shown.length + index]?.usage ?? null,
    };
  });
  const { invoices, total } = await findTouchedInvoices(database.kysely, organizationId, done.changed);
  const preview = { time_zone, usage, usage_total: done.all.length, invoices, invoices_total: total };
  return { outcome: 'previewed', preview };
}

/** Later than any closing. What is late for it is what this transaction does, and nothing else. */
const NOW = Number.MAX_SAFE_INTEGER;

/** Has all that was corrected be late for a closing, in a closed time or not: usage at that closing is the usage of before. */
async function markAsLate(
  transaction: Queries,
  organizationId: string,
  changed: readonly ChangedEvent[],
): Promise<void> {
  await sql`
    INSERT INTO late_events AS kept (organization_id, meter_id, customer_external_id, "timestamp", event_id, closing, quantity, voids)
    SELECT organization_id, meter_id, customer_external_id, "timestamp", coalesce(correction.id, events.id), ${NOW}::bigint, quantity,
      CASE WHEN correction.id IS NOT NULL THEN events.id END
    FROM unnest(${plainArray(changed.map(({ event }) => event.id))}::uuid[]) AS changed (id)
    CROSS JOIN LATERAL (
      SELECT * FROM events WHERE organization_id = ${organizationId}::uuid AND id = changed.id OFFSET 0
    ) AS events
    LEFT JOIN LATERAL (
      SELECT id FROM corrections WHERE organization_id = ${organizationId}::uuid AND event_id = changed.id
    ) AS correction ON true
    ON CONFLICT ON CONSTRAINT late_events_pkey DO UPDATE SET closing = excluded.closing`.execute(transaction);
}

/** The usage of before of all of them, and then that of after: one statement, which is one snapshot, whatever others record meanwhile. */
async function readBoth(
  transaction: Queries,
  organizationId: string,
  touched: readonly TouchedUsage[],
): Promise<Usage[]> {
  const questions = [NOW, null].flatMap((closing) =>
    touched.map(({ meterId, aggregation, customer, month: { start, end } }) => {
      return { organizationId, meterId, customerExternalId: customer, aggregation, start, end, closing };
    }),
  );
  return await readUsageOfDues(transaction, questions, 'rollups');
}

/** The usage of a customer on a meter in a month that some of the events are of. */
interface TouchedUsage {
  meterId: string;
  aggregation: AggregationType;
  customer: string;
  month: Month;
  events: number;
  newEvents: number;
}

/** Those with most of the events come first. */
function touchedUsage(changed: readonly ChangedEvent[], timeZone: string): TouchedUsage[] {
  const found = new Map<string, TouchedUsage>();
  for (const { event, aggregation, isNew } of changed) {
    const { meter_id: meterId, customer_external_id: customer } = event;
    const month = monthIn(timeZone, microsOfText(event.timestamp));
    const key = `${month.name} ${meterId} ${customer}`;
    const touched = found.get(key) ?? { meterId, aggregation, customer, month, events: 0, newEvents: 0 };
    touched[isNew ? 'newEvents' : 'events'] += 1;
    found.set(key, touched);
  }
  return [...found]
    .toSorted(([a, one], [b, other]) => other.events + other.newEvents - one.events - one.newEvents || (a < b ? -1 : 1))
    .map(([, touched]) => touched);
}

async function findMeters(
  db: Queries,
  organizationId: string,
  touched: readonly TouchedUsage[],
): Promise<Map<string, { name: string; unit: string | null }>> {
  const ids = [...new Set(touched.map(({ meterId }) => meterId))];
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('meters')
    .select(['id', 'name', 'unit'])
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}
