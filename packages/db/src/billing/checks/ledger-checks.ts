// Checks of the money that customers have in advance, and of the feed.

import { sql } from 'kysely';
import type { BillingCheck } from './check.ts';

export const LEDGER_CHECKS: readonly BillingCheck[] = [
  {
    name: 'credit_grants',
    promise:
      'what remains of a grant is its amount without what was drawn and voided and not returned; of a void one nothing does',
    faults: ({ of }) => sql`
      SELECT g.organization_id, 'grant ' || g.id AS subject,
        format('%s were granted, %s drawn, %s returned, %s voided, and %s remain', g.amount, entries.drawn,
          entries.returned, entries.voided, g.remaining) AS said
      FROM credit_grants g
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(amount) FILTER (WHERE kind = 'DRAW'), 0) AS drawn,
          coalesce(sum(amount) FILTER (WHERE kind = 'RETURN'), 0) AS returned,
          coalesce(sum(amount) FILTER (WHERE kind = 'VOID'), 0) AS voided
        FROM credit_entries WHERE organization_id = g.organization_id AND grant_id = g.id
      ) AS entries
      WHERE ${of('g')} AND (g.remaining <> g.amount - entries.drawn + entries.returned - entries.voided OR g.remaining < 0
        OR g.voided_at IS NOT NULL AND g.remaining <> 0)`,
  },
  {
    name: 'invoice_credits',
    promise: 'the credits of an invoice are what it drew, a void one gave them back, and one below zero became a grant',
    faults: ({ of }) => sql`
      SELECT i.organization_id, 'invoice ' || i.id AS subject,
        format('it is %s with a total of %s and credits of %s; it drew %s, returned %s, and granted %s', i.status, i.total,
          i.credits_applied, entries.drawn, entries.returned, granted.amount) AS said
      FROM invoices i
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(amount) FILTER (WHERE kind = 'DRAW'), 0) AS drawn,
          coalesce(sum(amount) FILTER (WHERE kind = 'RETURN'), 0) AS returned
        FROM credit_entries WHERE organization_id = i.organization_id AND invoice_id = i.id
      ) AS entries
      LEFT JOIN (
        SELECT g.organization_id, g.invoice_id, sum(g.amount) AS amount
        FROM credit_grants g WHERE ${of('g')} AND g.invoice_id IS NOT NULL GROUP BY 1, 2
      ) AS made ON made.organization_id = i.organization_id AND made.invoice_id = i.id
      CROSS JOIN LATERAL (SELECT coalesce(made.amount, 0) AS amount) AS granted
      WHERE ${of('i')} AND (
        entries.drawn <> coalesce(i.credits_applied, 0)
        OR entries.returned <> CASE i.status WHEN 'VOID' THEN entries.drawn ELSE 0 END
        OR granted.amount <> greatest(-coalesce(i.total, 0), 0))`,
  },
  {
    name: 'draws',
    promise: 'an invoice draws from grants of its own customer and currency',
    faults: ({ of }) => sql`
      SELECT e.organization_id, 'invoice ' || i.id AS subject,
        format('it is of customer %s in %s, and drew from grant %s, of customer %s in %s', i.customer_id, i.currency, g.id,
          g.customer_id, g.currency) AS said
      FROM credit_entries e
      JOIN credit_grants g ON g.organization_id = e.organization_id AND g.id = e.grant_id
      JOIN invoices i ON i.organization_id = e.organization_id AND i.id = e.invoice_id
      WHERE ${of('e')} AND (g.customer_id, g.currency) <> (i.customer_id, i.currency)`,
  },
  {
    name: 'feed',
    promise: 'the numbers of the feed follow each other from 1, without a gap',
    faults: ({ of }) => sql`
      WITH followed AS (
        SELECT e.organization_id, e.sequence, coalesce(lag(e.sequence) OVER (
          PARTITION BY e.organization_id ORDER BY e.sequence), 0) AS before
        FROM billing_events e WHERE ${of('e')}
      ), last_written AS (SELECT organization_id, max(sequence) AS sequence FROM followed GROUP BY 1),
      counters AS (SELECT f.organization_id, f.last_sequence FROM billing_feeds f WHERE ${of('f')})
      SELECT organization_id, 'event ' || sequence || ' of the feed' AS subject, CASE
        WHEN sequence = before THEN 'it is there twice' ELSE format('before it %s are missing', sequence - before - 1)
      END AS said
      FROM followed WHERE sequence <> before + 1
      UNION ALL
      SELECT organization_id, 'the feed', format('%s numbers were taken, and the last that is written is %s',
        coalesce(counters.last_sequence, 0), coalesce(last_written.sequence, 0))
      FROM counters FULL JOIN last_written USING (organization_id)
      WHERE coalesce(counters.last_sequence, 0) <> coalesce(last_written.sequence, 0)`,
  },
];
