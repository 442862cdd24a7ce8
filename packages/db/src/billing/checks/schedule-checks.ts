// Checks of subscriptions and their periods, and of what the periods brought about.

import { sql } from 'kysely';
import type { BillingCheck } from './check.ts';

export const SCHEDULE_CHECKS: readonly BillingCheck[] = [
  {
    name: 'periods',
    promise:
      'the periods of a subscription follow each other from its start, or from the end of its trial, without gap or overlap',
    faults: ({ of }) => sql`
      SELECT organization_id, 'subscription ' || subscription_id AS subject, CASE
        WHEN cycle <> cycle_before + 1 THEN format('cycle %s follows cycle %s', cycle, cycle_before)
        WHEN cycle_before = -1 THEN format('cycle %s begins at %s and not at %s', cycle, period_start, end_before)
        ELSE format('cycle %s begins at %s, and the one before ends at %s', cycle, period_start, end_before)
      END AS said
      FROM (
        SELECT p.*, coalesce(lag(p.cycle) OVER cycles, -1) AS cycle_before,
          coalesce(lag(p.period_end) OVER cycles, s.trial_end_at, s.start_at) AS end_before
        FROM subscription_periods p
        JOIN subscriptions s ON s.organization_id = p.organization_id AND s.id = p.subscription_id
        WHERE ${of('p')}
        WINDOW cycles AS (PARTITION BY p.organization_id, p.subscription_id ORDER BY p.cycle)
      ) AS followed
      WHERE cycle <> cycle_before + 1 OR period_start <> end_before
      UNION ALL
      SELECT s.organization_id, 'subscription ' || s.id, format('it is in cycle %s from %s to %s, and its last period is cycle %s from %s to %s',
        coalesce(s.cycle::text, 'none'), s.current_period_start, s.current_period_end,
        coalesce(p.cycle::text, 'none'), p.period_start, p.period_end)
      FROM subscriptions s
      LEFT JOIN LATERAL (
        SELECT * FROM subscription_periods WHERE organization_id = s.organization_id AND subscription_id = s.id
        ORDER BY cycle DESC LIMIT 1
      ) AS p ON true
      WHERE ${of('s')} AND (s.cycle IS DISTINCT FROM p.cycle OR s.cycle IS NOT NULL
        AND (s.current_period_start, s.current_period_end) IS DISTINCT FROM (p.period_start, p.period_end))`,
  },
  {
    name: 'dues_in_periods',
    promise: 'a due is in force as long as its period, for the customer of its subscription',
    faults: ({ of }) => sql`
      SELECT d.organization_id, 'subscription ' || d.subscription_id AS subject,
        format('cycle %s of charge %s is from %s to %s for %s, and the period from %s to %s for %s', d.cycle, d.charge_id,
          d.period_start, d.period_end, d.customer_external_id, p.period_start, p.period_end, s.customer_external_id) AS said
      FROM dues d
      JOIN subscription_periods p
        ON p.organization_id = d.organization_id AND p.subscription_id = d.subscription_id AND p.cycle = d.cycle
      JOIN subscriptions s ON s.organization_id = d.organization_id AND s.id = d.subscription_id
      WHERE ${of('d')} AND (d.period_start, d.period_end, d.customer_external_id)
        IS DISTINCT FROM (p.period_start, p.period_end, s.customer_external_id)`,
  },
  {
    name: 'dues_missing',
    promise: 'each charge that was in force when a period of its plan was opened has a due in it',
    // One that was made in the minute before may not have been seen yet by whoever opened the period.
    faults: ({ of }) => sql`
      SELECT p.organization_id, 'subscription ' || p.subscription_id AS subject,
        format('cycle %s has no due of charge %s', p.cycle, c.id) AS said
      FROM subscription_periods p
      JOIN subscriptions s ON s.organization_id = p.organization_id AND s.id = p.subscription_id
      JOIN charges c ON c.organization_id = p.organization_id AND c.plan_id = p.plan_id
        AND c.effective_from <= greatest(p.period_start, s.created_at) - interval '1 minute'
        AND (c.ended_at IS NULL OR c.ended_at > greatest(p.opened_at, s.created_at))
      WHERE ${of('p')} AND NOT EXISTS (
        SELECT FROM dues d WHERE d.organization_id = p.organization_id AND d.subscription_id = p.subscription_id
          AND d.cycle = p.cycle AND d.charge_id = c.id)`,
  },
  {
    name: 'dues_in_force',
    promise:
      'the charge of a due was in force when its period began, or when its subscription was made where that is later',
    // Of what can still be set right: the period is open, or an invoice that bills it is a draft, or was one a month ago. What was billed
    // in advance is on the invoice at the beginning of its period, all else on that at its end.
    faults: ({ of }) => sql`
      SELECT d.organization_id, 'subscription ' || d.subscription_id AS subject,
        format('cycle %s is billed by charge %s, which is in force from %s to %s, and not at %s', d.cycle, d.charge_id,
          c.effective_from, coalesce(c.ended_at::text, 'no end'), priced.at) AS said
      FROM dues d
      JOIN subscriptions s ON s.organization_id = d.organization_id AND s.id = d.subscription_id
      JOIN charges c ON c.organization_id = d.organization_id AND c.id = d.charge_id
      CROSS JOIN LATERAL (SELECT greatest(d.period_start, s.created_at) AS at) AS priced
      WHERE ${of('d')} AND (c.effective_from > priced.at OR c.ended_at <= priced.at)
        AND (s.cycle = d.cycle AND s.status <> 'CANCELED' OR EXISTS (
          SELECT FROM invoices i WHERE i.organization_id = d.organization_id AND i.subscription_id = d.subscription_id
            AND i.cycle IN (d.cycle, d.cycle + 1)
            AND (i.status = 'DRAFT' OR i.finalized_at > billing_now() - interval '35 days')))`,
  },
  {
    name: 'billed_meters',
    promise: 'a meter that a subscription bills in its open period is kept for it',
    faults: ({ of }) => sql`
      SELECT d.organization_id, 'subscription ' || d.subscription_id AS subject,
        format('it bills meter %s, which is %s', d.meter_id,
          coalesce('kept for ' || b.subscription_id || coalesce(' until ' || b.ended_at, ''), 'kept for none')) AS said
      FROM dues d
      JOIN subscriptions s ON s.organization_id = d.organization_id AND s.id = d.subscription_id
        AND s.cycle = d.cycle AND s.status <> 'CANCELED' AND coalesce(s.ended_at > billing_now(), true)
      LEFT JOIN billed_meters b ON b.organization_id = d.organization_id AND b.meter_id = d.meter_id
        AND b.customer_external_id = d.customer_external_id
      WHERE ${of('d')} AND d.meter_id IS NOT NULL
        AND (b.subscription_id IS DISTINCT FROM d.subscription_id OR b.ended_at IS NOT NULL)`,
  },
];
