// Which invoices hold events, or would hold them: the due of each event is asked for by its index, and the lines of that due.

import type { InvoiceStatus } from '@weir/billing/kinds';
import { LIMITS } from '@weir/shared/limits';
import { sql } from 'kysely';
import { plainArray, textArray } from '../array-text.ts';
import type { Queries } from '../database.ts';
import type { ChangedEvent } from './correct-events.ts';

/** `LATE_USAGE`: it stays as it is, and a later one has a line for the difference. `AT_ONCE`: it is not billed yet, and shows it at once. */
export const INVOICE_EFFECTS = ['LATE_USAGE', 'AT_ONCE'] as const;

/** An invoice that counts some of the events, or the period of a subscription that no invoice is of yet. */
export interface TouchedInvoice {
  effect: (typeof INVOICE_EFFECTS)[number];
  /** Null, as are the number and the status, where there is no invoice yet. */
  invoice_id: string | null;
  invoice_number: string | null;
  status: InvoiceStatus | null;
  subscription_id: string;
  customer_external_id: string;
  /** That of the subscription, in which its periods begin. */
  time_zone: string;
  period_start: string;
  period_end: string;
  /** How many of its events would be void. */
  events: number;
  new_events: number;
}

/**
 * The invoices of events: finalized ones first, then by period. An event that came late is in the first line of its due after that;
 * a new one would come to the due of its time. What no charge bills is in none.
 */
export async function findTouchedInvoices(
  db: Queries,
  organizationId: string,
  changed: readonly ChangedEvent[],
): Promise<{ invoices: TouchedInvoice[]; total: number }> {
  const own = sql`${organizationId}::uuid`;
  // Dues of a meter and customer do not overlap: the one that begins last is the only one that can hold an instant.
  const { rows } = await sql<TouchedInvoice & { total: number }>`
    WITH billed AS MATERIALIZED (
      SELECT changed.is_new, d.*, line.invoice_id AS finalized_id
      FROM unnest(
        ${plainArray(changed.map(({ event }) => event.id))}::uuid[], ${plainArray(changed.map(({ event }) => event.meter_id))}::uuid[],
        ${textArray(changed.map(({ event }) => event.customer_external_id))}::text[],
        ${plainArray(changed.map(({ event }) => event.timestamp))}::timestamptz[],
        ${plainArray(changed.map(({ isNew }) => isNew))}::boolean[]
      ) AS changed (id, meter_id, customer, at, is_new)
      CROSS JOIN LATERAL (
        SELECT subscription_id, cycle, charge_id, customer_external_id, period_start, period_end, closing FROM dues
        WHERE organization_id = ${own} AND meter_id = changed.meter_id AND customer_external_id = changed.customer
          AND period_start <= changed.at AND period_end > period_start
        ORDER BY period_start DESC LIMIT 1
      ) AS d
      LEFT JOIN LATERAL (
        SELECT closing FROM late_events
        WHERE organization_id = ${own} AND meter_id = changed.meter_id AND customer_external_id = changed.customer
          AND "timestamp" = changed.at AND event_id = changed.id
      ) AS late ON true
      LEFT JOIN LATERAL (
        SELECT invoice_id FROM invoice_lines
        WHERE organization_id = ${own} AND subscription_id = d.subscription_id AND cycle = d.cycle AND (charge_id = d.charge_id) IS TRUE
          AND rebilled IS NULL AND closing > coalesce(late.closing, -1)
        ORDER BY closing LIMIT 1
      ) AS line ON true
      WHERE d.period_end > changed.at
    ), held AS MATERIALIZED (
      SELECT billed.*, coalesce(finalized_id, draft.id) AS invoice_id
      FROM billed LEFT JOIN LATERAL (
        SELECT id FROM invoices
        WHERE organization_id = ${own} AND status = 'DRAFT' AND subscription_id = billed.subscription_id
          AND (cycle = billed.cycle + 1 OR billed.closing IS NOT NULL)
        ORDER BY cycle LIMIT 1
      ) AS draft ON finalized_id IS NULL
    ), touched AS MATERIALIZED (
      SELECT finalized_id IS NOT NULL AS is_final, invoice_id, subscription_id, CASE WHEN invoice_id IS NULL THEN cycle END AS cycle,
        min(customer_external_id) AS customer_external_id, min(period_start) AS period_start, max(period_end) AS period_end,
        count(*) FILTER (WHERE NOT is_new) AS events, count(*) FILTER (WHERE is_new) AS new_events
      FROM held GROUP BY 1, 2, 3, 4
    )
    SELECT CASE WHEN is_final THEN 'LATE_USAGE' ELSE 'AT_ONCE' END AS effect, touched.invoice_id, i.invoice_number, i.status,
      touched.subscription_id, touched.customer_external_id, s.time_zone, coalesce(i.period_start, touched.period_start) AS period_start,
      coalesce(i.period_end, touched.period_end) AS period_end, events::integer, new_events::integer,
      (count(*) OVER ())::integer AS total
    FROM touched CROSS JOIN LATERAL (
      SELECT time_zone FROM subscriptions WHERE organization_id = ${own} AND id = touched.subscription_id LIMIT 1
    ) AS s LEFT JOIN LATERAL (
      SELECT invoice_number, status, period_start, period_end FROM invoices WHERE organization_id = ${own} AND id = touched.invoice_id LIMIT 1
    ) AS i ON true
    ORDER BY is_final DESC, period_start, touched.invoice_id, touched.subscription_id
    LIMIT ${LIMITS.previewRows}::integer`.execute(db);
  return { invoices: rows.map(({ total: _total, ...invoice }) => invoice), total: rows[0]?.total ?? 0 };
}
