// Checks of finalized invoices and their lines.

import { sql } from 'kysely';
import type { BillingCheck } from './check.ts';

/** The year and the number of `INV-2026-000042`, as two columns of `parsed`. */
const PARSED = sql`LATERAL (
  SELECT (match[1])::integer AS year, (match[2])::bigint AS number
  FROM (SELECT regexp_match(i.invoice_number, '-(\\d{4})-(\\d{1,18})$') AS match) AS matched
) AS parsed`;

/** The boundary whose invoice has the first line of a due: in advance the one where its period begins, else the one where it ends. */
const BOUNDARY = sql`d.cycle + CASE WHEN d.terms ->> 'timing' = 'in_advance' THEN 0 ELSE 1 END`;

export const INVOICE_CHECKS: readonly BillingCheck[] = [
  {
    name: 'invoice_totals',
    promise: 'the lines of an invoice add up to its subtotal, and that and the tax to its total',
    faults: ({ of }) => sql`
      SELECT i.organization_id, 'invoice ' || i.id AS subject, format('its lines add up to %s, its subtotal is %s, its total %s',
        coalesce(lines.amount::text, 'nothing'), coalesce(i.subtotal::text, 'null'), coalesce(i.total::text, 'null')) AS said
      FROM invoices i
      LEFT JOIN (
        SELECT l.organization_id, l.invoice_id, sum(l.amount) AS amount FROM invoice_lines l WHERE ${of('l')} GROUP BY 1, 2
      ) AS lines ON lines.organization_id = i.organization_id AND lines.invoice_id = i.id
      WHERE ${of('i')} AND i.status <> 'DRAFT'
        AND (lines.amount IS DISTINCT FROM i.subtotal OR i.total IS DISTINCT FROM i.subtotal)`,
  },
  {
    name: 'invoice_status',
    promise: 'an invoice is paid when nothing of it is due: its total without credits and payments',
    faults: ({ of }) => sql`
      SELECT i.organization_id, 'invoice ' || i.id AS subject, format('it is %s, with a total of %s, credits of %s and %s paid',
        i.status, coalesce(i.total::text, 'null'), coalesce(i.credits_applied::text, 'null'),
        coalesce(i.amount_paid::text, 'null')) AS said
      FROM invoices i
      WHERE ${of('i')} AND i.status <> 'DRAFT' AND (
        i.total IS NULL OR i.credits_applied IS NULL OR i.amount_paid IS NULL
        OR i.credits_applied NOT BETWEEN 0 AND greatest(i.total, 0)
        OR i.amount_paid NOT BETWEEN 0 AND greatest(i.total, 0) - i.credits_applied
        OR CASE i.status
          WHEN 'PAID' THEN greatest(i.total, 0) <> i.credits_applied + i.amount_paid
          WHEN 'VOID' THEN i.amount_paid <> 0
          ELSE i.total <= i.credits_applied + i.amount_paid
        END)`,
  },
  {
    name: 'invoice_payments',
    promise: 'what is paid of an invoice is what its payments add up to that were not taken back',
    faults: ({ of }) => sql`
      SELECT i.organization_id, 'invoice ' || i.id AS subject, format('%s of it are paid, and its payments add up to %s',
        coalesce(i.amount_paid, 0), coalesce(paid.amount, 0)) AS said
      FROM invoices i
      LEFT JOIN (
        SELECT p.organization_id, p.invoice_id, sum(p.amount) FILTER (WHERE p.taken_back_at IS NULL) AS amount
        FROM payments p WHERE ${of('p')} GROUP BY 1, 2
      ) AS paid ON paid.organization_id = i.organization_id AND paid.invoice_id = i.id
      WHERE ${of('i')} AND coalesce(i.amount_paid, 0) <> coalesce(paid.amount, 0)`,
  },
  {
    name: 'invoice_parties',
    promise: 'an invoice is for the customer of its subscription, in its currency',
    faults: ({ of }) => sql`
      SELECT i.organization_id, 'invoice ' || i.id AS subject, format('it is for customer %s in %s, and its subscription %s for %s in %s',
        i.customer_id, i.currency, s.id, s.customer_id, s.currency) AS said
      FROM invoices i
      JOIN subscriptions s ON s.organization_id = i.organization_id AND s.id = i.subscription_id
      WHERE ${of('i')} AND (i.customer_id, i.currency) <> (s.customer_id, s.currency)`,
  },
  {
    name: 'line_rounding',
    promise:
      'the amount of a line is its exact amount, rounded once, less what was billed before, and what is waived of that',
    // In minor units and without a division, which numeric would round: half away from zero is ⌊(2n · scale + d) ÷ 2d⌋.
    faults: ({ of, scales }) => sql`
      SELECT l.organization_id, 'line ' || l.id AS subject, format('on invoice %s: %s is not %s rounded, less %s, of which %s are waived',
        l.invoice_id, l.amount, l.exact_amount, l.billed_before, coalesce(l.waived, 0)) AS said
      FROM invoice_lines l
      JOIN invoices i ON i.organization_id = l.organization_id AND i.id = l.invoice_id
      LEFT JOIN ${scales} ON scales.currency = i.currency
      CROSS JOIN LATERAL (SELECT l.exact_amount ~ '^-?\\d+/[1-9]\\d*$' AS is_one) AS fraction
      CROSS JOIN LATERAL (SELECT
        CASE WHEN fraction.is_one THEN split_part(l.exact_amount, '/', 1)::numeric END AS n,
        CASE WHEN fraction.is_one THEN split_part(l.exact_amount, '/', 2)::numeric END AS d
      ) AS parts
      CROSS JOIN LATERAL (SELECT CASE
        WHEN fraction.is_one THEN sign(parts.n) * div(2 * abs(parts.n) * scales.scale + parts.d, 2 * parts.d)
        WHEN l.exact_amount ~ '^-?\\d+(\\.\\d+)?$' THEN round(l.exact_amount::numeric * scales.scale)
      END AS minor) AS rounded
      WHERE ${of('l')} AND ((l.amount + l.billed_before - coalesce(l.waived, 0)) * scales.scale IS DISTINCT FROM rounded.minor
        OR l.amount * scales.scale <> trunc(l.amount * scales.scale))`,
  },
  {
    name: 'invoice_numbers',
    promise: 'the numbers of the invoices of a year follow each other from 1, without gap or double',
    faults: ({ of }) => sql`
      WITH numbered AS (
        SELECT i.organization_id, i.id, i.invoice_number, i.issue_date, parsed.year, parsed.number,
          coalesce(lag(parsed.number) OVER (
            PARTITION BY i.organization_id, parsed.year ORDER BY parsed.number, i.id), 0) AS before
        FROM invoices i CROSS JOIN ${PARSED}
        WHERE ${of('i')} AND i.status <> 'DRAFT'
      ), last_given AS (SELECT organization_id, year, max(number) AS number FROM numbered GROUP BY 1, 2),
      counters AS (SELECT n.organization_id, n.year, n.last_number FROM invoice_numbers n WHERE ${of('n')})
      SELECT organization_id, 'invoice ' || id AS subject, CASE
        WHEN number IS NULL OR year IS DISTINCT FROM extract(year FROM issue_date)
          THEN format('the number %s is none of an invoice that was issued on %s', invoice_number, issue_date)
        WHEN number = before THEN format('the number %s is given twice', invoice_number)
        ELSE format('before its number, %s, %s of the year are missing', invoice_number, number - before - 1)
      END AS said
      FROM numbered
      WHERE number IS NULL OR year IS DISTINCT FROM extract(year FROM issue_date) OR number <> before + 1
      UNION ALL
      SELECT organization_id, 'the year ' || year, format('%s numbers were taken, and the last that is given is %s',
        coalesce(counters.last_number, 0), coalesce(last_given.number, 0))
      FROM counters FULL JOIN last_given USING (organization_id, year)
      WHERE coalesce(counters.last_number, 0) <> coalesce(last_given.number, 0) AND year IS NOT NULL`,
  },
  {
    name: 'invoice_order',
    promise: 'the invoices of a subscription are finalized in the order of their cycles, one for each',
    faults: ({ of }) => sql`
      WITH ordered AS (
        SELECT i.organization_id, i.id, i.subscription_id, i.cycle, i.status, ARRAY[parsed.year, parsed.number] AS number,
          lag(i.cycle) OVER cycles AS cycle_before, lag(i.status) OVER cycles AS status_before,
          lag(ARRAY[parsed.year, parsed.number]) OVER cycles AS number_before
        FROM invoices i CROSS JOIN ${PARSED}
        WHERE ${of('i')} AND i.cycle IS NOT NULL
        WINDOW cycles AS (PARTITION BY i.organization_id, i.subscription_id ORDER BY i.cycle, i.id)
      )
      SELECT organization_id, 'invoice ' || id AS subject, format(CASE
        WHEN cycle = cycle_before THEN 'cycle %s of subscription %s has another invoice'
        WHEN status_before = 'DRAFT' THEN 'cycle %s of subscription %s is finalized, and the one before is a draft'
        ELSE 'cycle %s of subscription %s has a smaller number than the one before'
      END, cycle, subscription_id) AS said
      FROM ordered
      WHERE cycle = cycle_before OR status <> 'DRAFT' AND (status_before = 'DRAFT' OR number < number_before)`,
  },
  {
    name: 'invoices_missing',
    promise: 'there is an invoice for each boundary that is past and at which something is due',
    faults: ({ of }) => sql`
      SELECT due.organization_id, 'subscription ' || due.subscription_id AS subject,
        format('something is due at boundary %s, and there is no invoice of it', due.boundary) AS said
      FROM (
        SELECT DISTINCT d.organization_id, d.subscription_id, ${BOUNDARY} AS boundary FROM dues d WHERE ${of('d')}
      ) AS due
      JOIN subscriptions s ON s.organization_id = due.organization_id AND s.id = due.subscription_id
      WHERE (due.boundary <= s.cycle OR s.status = 'CANCELED') AND NOT EXISTS (
        SELECT FROM invoices i WHERE i.organization_id = due.organization_id
          AND i.subscription_id = due.subscription_id AND i.cycle = due.boundary)`,
  },
  {
    name: 'dues_left_open',
    promise: 'a finalized invoice has closed all that was due at its boundary',
    faults: ({ of }) => sql`
      SELECT d.organization_id, 'subscription ' || d.subscription_id AS subject,
        format('cycle %s of charge %s is open, and invoice %s is finalized', d.cycle, d.charge_id, i.id) AS said
      FROM dues d
      JOIN invoices i ON i.organization_id = d.organization_id AND i.subscription_id = d.subscription_id
        AND i.cycle = ${BOUNDARY} AND i.status <> 'DRAFT'
      WHERE ${of('d')} AND d.closing IS NULL`,
  },
];
