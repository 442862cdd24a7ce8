// Whether a subscription will bill a meter once its trial is over, or once the run opens its next period. Who looks for unbilled
// usage and who proves what became of each event ask it with the same words, and cannot come to tell two things of one event.

import { sql, type RawBuilder } from 'kysely';

interface Question {
  own: RawBuilder<unknown>;
  /** A row of `subscriptions`, by its name in the statement. */
  subscription: RawBuilder<unknown>;
  meter: RawBuilder<unknown>;
}

/**
 * Whether the trial of a subscription gives the meter: its plan has a charge of it, in force or not, or the plan does that it goes
 * over to before its first period, or it was billed when the trial ended, by a plan that it has left since.
 */
// By the customer as well, and not with EXISTS: where nothing was counted yet, Postgres would read all dues of the meter each time, or
// hash all of them.
export function isFreeInTrial({ own, subscription: s, meter }: Question): RawBuilder<boolean> {
  return sql`coalesce(
    (SELECT true FROM charges c
      WHERE c.organization_id = ${own} AND c.meter_id = ${meter}
        AND c.plan_id IN (${s}.plan_id, CASE WHEN ${s}.cycle IS NULL THEN ${s}.pending_plan_id END) LIMIT 1),
    (SELECT true FROM dues o
      WHERE o.organization_id = ${own} AND o.meter_id = ${meter}
        AND o.customer_external_id = ${s}.customer_external_id AND o.subscription_id = ${s}.id LIMIT 1),
    false)`;
}

/**
 * Whether the period after the open one will bill the meter: the plan that it will have has a charge of it that has no end, or has one
 * after that period began.
 */
export function isBilledNext({ own, subscription: s, meter }: Question): RawBuilder<boolean> {
  const pricedAt = sql`greatest(${s}.current_period_end, ${s}.created_at)`;
  return sql`coalesce(
    (SELECT true FROM charges c
      WHERE c.organization_id = ${own} AND c.meter_id = ${meter} AND c.plan_id = coalesce(${s}.pending_plan_id, ${s}.plan_id)
        AND (c.ended_at IS NULL OR c.effective_from <= ${pricedAt} AND c.ended_at > ${pricedAt})
      LIMIT 1),
    false)`;
}
