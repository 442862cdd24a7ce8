// Checks of dues, their lines, and what came too late for them.

import { sql } from 'kysely';
import type { BillingCheck } from './check.ts';

export const DUE_CHECKS: readonly BillingCheck[] = [
  {
    name: 'dues_priced',
    promise: 'a due has the price and the meter of its charge, which do not change',
    // An invoice is computed again from this copy: that a copy is wrong shows nowhere else.
    faults: ({ of }) => sql`
      SELECT d.organization_id, 'subscription ' || d.subscription_id AS subject, CASE
        WHEN d.meter_id IS DISTINCT FROM c.meter_id THEN format('cycle %s is of meter %s, and charge %s of meter %s', d.cycle,
          coalesce(d.meter_id::text, 'none'), c.id, coalesce(c.meter_id::text, 'none'))
        ELSE format('cycle %s has another price than charge %s', d.cycle, c.id)
      END AS said
      FROM dues d
      JOIN charges c ON c.organization_id = d.organization_id AND c.id = d.charge_id
      WHERE ${of('d')} AND (d.meter_id IS DISTINCT FROM c.meter_id OR d.terms <> c.terms)`,
  },
  {
    name: 'due_billed',
    promise: 'what a due says was billed for it, and at which closing last, is what its lines say',
    faults: ({ of }) => sql`
      SELECT d.organization_id, 'subscription ' || d.subscription_id AS subject,
        format('cycle %s of charge %s: its lines add up to %s, last at closing %s; it says %s and closing %s', d.cycle,
          d.charge_id, coalesce(lines.amount, 0), coalesce(lines.closing::text, 'none'), d.billed,
          coalesce(d.closing::text, 'none')) AS said
      FROM dues d
      LEFT JOIN (
        SELECT l.organization_id, l.subscription_id, l.cycle, l.charge_id,
          coalesce(sum(l.amount) FILTER (WHERE l.rebilled IS NULL), 0) AS amount, max(l.closing) AS closing
        FROM invoice_lines l
        JOIN invoices i ON i.organization_id = l.organization_id AND i.id = l.invoice_id AND i.status <> 'DRAFT'
        WHERE ${of('l')} AND l.charge_id IS NOT NULL GROUP BY 1, 2, 3, 4
      ) AS lines ON lines.organization_id = d.organization_id AND lines.subscription_id = d.subscription_id
        AND lines.cycle = d.cycle AND lines.charge_id = d.charge_id
      WHERE ${of('d')} AND (d.billed <> coalesce(lines.amount, 0) OR d.closing IS DISTINCT FROM lines.closing)`,
  },
  {
    name: 'line_billed_before',
    promise:
      'what was billed before a line is the sum of the lines of its due before it, all on invoices of its subscription',
    faults: ({ of }) => sql`
      SELECT organization_id, 'line ' || id AS subject, CASE
        WHEN subscription_id <> invoiced THEN format('it is of subscription %s, and its invoice of %s', subscription_id, invoiced)
        ELSE format('it says %s, and the lines before it add up to %s', billed_before, before)
      END AS said
      FROM (
        SELECT l.organization_id, l.id, l.subscription_id, l.billed_before, i.subscription_id AS invoiced,
          coalesce(sum(l.amount) OVER (
            PARTITION BY l.organization_id, l.subscription_id, l.cycle, l.charge_id
            ORDER BY l.closing NULLS FIRST, i.finalized_at, l.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
          ), 0) - coalesce((
            SELECT sum(again.amount) FROM invoice_lines again
            WHERE l.rebills > 0 AND again.organization_id = l.organization_id AND again.subscription_id = l.subscription_id
              AND again.cycle = l.cycle AND again.charge_id = l.charge_id AND again.rebilled <= l.rebills), 0) AS before
        FROM invoice_lines l
        JOIN invoices i ON i.organization_id = l.organization_id AND i.id = l.invoice_id AND i.status <> 'DRAFT'
        WHERE ${of('l')} AND l.charge_id IS NOT NULL
      ) AS lines
      WHERE billed_before <> before OR subscription_id <> invoiced`,
  },
  {
    name: 'dues_overlap',
    promise: 'the dues of a meter and customer do not overlap, so an event is in one at most',
    faults: ({ of }) => sql`
      SELECT organization_id, 'subscription ' || subscription_id AS subject,
        format('cycle %s of charge %s begins at %s, and another due of meter %s and the customer goes on until %s', cycle,
          charge_id, period_start, meter_id, reached) AS said
      FROM (
        SELECT d.*, max(d.period_end) OVER (
          PARTITION BY d.organization_id, d.meter_id, d.customer_external_id
          ORDER BY d.period_start, d.period_end, d.subscription_id, d.cycle, d.charge_id
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
        FROM dues d WHERE ${of('d')} AND d.meter_id IS NOT NULL AND d.period_start < d.period_end
      ) AS followed
      WHERE reached > period_start`,
  },
  {
    name: 'closings',
    promise: 'no closing is told of that was not, and a closed due ends before the end of what is closed',
    // Whatever ends later takes events that nobody writes down as late.
    faults: ({ of }) => sql`
      SELECT d.organization_id, 'subscription ' || d.subscription_id AS subject,
        format('cycle %s of charge %s ends at %s and was closed at closing %s; the last one is %s, until %s', d.cycle,
          d.charge_id, d.period_end, d.closing, coalesce(c.number::text, 'none'), c.until) AS said
      FROM dues d LEFT JOIN closings c ON c.organization_id = d.organization_id
      WHERE ${of('d')} AND d.closing IS NOT NULL
        AND (c.number IS NULL OR d.closing > c.number OR d.meter_id IS NOT NULL AND d.period_end > c.until)
      UNION ALL
      SELECT s.organization_id, 'subscription ' || s.id,
        format('it was settled at closing %s, and the last one is %s', s.closing, coalesce(c.number::text, 'none'))
      FROM subscriptions s LEFT JOIN closings c ON c.organization_id = s.organization_id
      WHERE ${of('s')} AND s.closing > coalesce(c.number, 0)
      UNION ALL
      SELECT l.organization_id, 'event ' || l.event_id,
        format('it is late for closing %s, and the last one is %s', l.closing, coalesce(c.number::text, 'none'))
      FROM late_events l LEFT JOIN closings c ON c.organization_id = l.organization_id
      WHERE ${of('l')} AND l.closing > coalesce(c.number, 0)`,
  },
  {
    name: 'late_events',
    promise: 'what is late is an event, as it was recorded, or the correction that voids it',
    faults: ({ of, isKept }) => sql`
      SELECT l.organization_id, 'event ' || l.changed AS subject, CASE
        WHEN l.voids IS NOT NULL AND NOT EXISTS (SELECT FROM corrections c WHERE c.organization_id = l.organization_id
          AND (c.event_id, c.id, c.closing) = (l.voids, l.event_id, l.closing)) THEN 'it is void for a closing, and no correction says so'
        WHEN e.id IS NULL THEN 'it is late, and was never recorded'
        ELSE 'it is late with another meter, customer, time or quantity than it was recorded with'
      END AS said
      FROM (SELECT *, coalesce(voids, event_id) AS changed FROM late_events) AS l
      LEFT JOIN events e ON e.organization_id = l.organization_id AND e.id = l.changed
      WHERE ${of('l')} AND ${isKept('l.changed')} AND (e.id IS NULL
        OR (l.meter_id, l.customer_external_id, l."timestamp", l.quantity)
          <> (e.meter_id, e.customer_external_id, e."timestamp", e.quantity)
        OR l.voids IS NOT NULL AND NOT EXISTS (SELECT FROM corrections c WHERE c.organization_id = l.organization_id
          AND (c.event_id, c.id, c.closing) = (l.voids, l.event_id, l.closing)))`,
  },
  {
    name: 'corrections',
    promise: 'what is void was recorded, and so was what counts in its place',
    faults: ({ of, isKept }) => sql`
      SELECT organization_id, 'event ' || event_id AS subject, CASE
        WHEN voided IS NULL THEN 'it is void, and was never recorded'
        WHEN amended IS NULL THEN format('%s counts in its place, and was never recorded', amended_by)
        ELSE format('%s counts in its place, for another meter or customer', amended_by)
      END AS said
      FROM (
        SELECT c.*, e.id AS voided, a.id AS amended, (e.meter_id, e.customer_external_id) = (a.meter_id, a.customer_external_id) AS is_same
        FROM corrections c
        LEFT JOIN events e ON e.organization_id = c.organization_id AND e.id = c.event_id
        LEFT JOIN events a ON a.organization_id = c.organization_id AND a.id = c.amended_by
        WHERE ${of('c')} AND ${isKept('c.event_id')}
      ) AS corrected
      WHERE voided IS NULL OR amended_by IS NOT NULL AND is_same IS NOT TRUE`,
  },
  {
    name: 'late_events_lost',
    promise: 'late events that no line has settled are found at the next closing of their subscription',
    faults: ({ of }) => sql`
      SELECT d.organization_id, 'subscription ' || d.subscription_id AS subject,
        format('cycle %s of charge %s was closed at %s; %s late for it, and the subscription was settled at %s without them',
          d.cycle, d.charge_id, d.closing, count(*), s.closing) AS said
      FROM late_events l
      JOIN dues d ON d.organization_id = l.organization_id AND d.meter_id = l.meter_id
        AND d.customer_external_id = l.customer_external_id
        AND d.period_start <= l."timestamp" AND d.period_end > l."timestamp"
      JOIN subscriptions s ON s.organization_id = d.organization_id AND s.id = d.subscription_id
      WHERE ${of('l')} AND l.closing >= d.closing AND l.closing < s.closing
      GROUP BY d.organization_id, d.subscription_id, d.cycle, d.charge_id, s.closing`,
  },
];
