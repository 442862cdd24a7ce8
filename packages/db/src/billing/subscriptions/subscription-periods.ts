import { applyPendingPlan, nextCycleOf } from '@weir/billing/pass-boundaries';
import { PeriodCache } from '@weir/billing/schedules';
import type { SubscriptionRow } from './subscriptions.ts';
import { formatDays } from '@weir/rating/proration';
import { isoOf, microsOfText, type Micros } from '@weir/shared/instant';
import { sql } from 'kysely';
import type { Database, Queries } from '../../database.ts';
import { inSnapshot } from '../snapshot.ts';

/** A period as it is answered. */
export interface SubscriptionPeriod {
  cycle: number;
  /** By whose charges it is billed. */
  plan_id: string;
  period_start: string;
  period_end: string;
  /** `22/31`: the local dates in force, of those of the whole period; null where it is whole. */
  days: string | null;
}

/**
 * The periods of a subscription, oldest first: those that were opened, the one that holds this instant, and `count` after it as
 * they are to be. There is none after its end. Returns nothing where there is no such subscription.
 */
export async function listPeriods(
  database: Database,
  organizationId: string,
  asked: { id: string; count: number },
): Promise<SubscriptionPeriod[] | undefined> {
  // Without it a period that is opened between the two statements would be there twice.
  return await inSnapshot(database, (snapshot) => readPeriods(snapshot, organizationId, asked));
}

async function readPeriods(
  db: Queries,
  organizationId: string,
  { id, count }: { id: string; count: number },
): Promise<SubscriptionPeriod[] | undefined> {
  const found = await db
    .selectFrom('subscriptions')
    .selectAll()
    // By itself: in a join, Postgres may read all plans of the organization.
    .select(({ selectFrom }) =>
      selectFrom('plans')
        .select('billing_interval')
        .whereRef('plans.organization_id', '=', 'subscriptions.organization_id')
        .whereRef('plans.id', '=', 'subscriptions.pending_plan_id')
        .as('pending_interval'),
    )
    .select(sql<string>`billing_now()`.as('now'))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const { now, pending_interval, ...row } = found;
  const opened = await db
    .selectFrom('subscription_periods')
    .select([
      'cycle',
      'plan_id',
      'period_start',
      'period_end',
      sql<string | null>`days_in_force || '/' || days_in_period`.as('days'),
    ])
    .where('organization_id', '=', organizationId)
    .where('subscription_id', '=', id)
    .orderBy('cycle')
    .execute();
  if (row.status === 'CANCELED' || row.cancel_at_period_end) return opened;
  if (pending_interval !== null) applyPendingPlan(row, pending_interval);
  return [...opened, ...periodsAfter(row, microsOfText(now), count)];
}

/** What follows the open period: whatever has begun since, which the run has yet to open, and `count` that have not. */
function periodsAfter(row: SubscriptionRow, now: Micros, count: number): SubscriptionPeriod[] {
  const periods = new PeriodCache();
  const after: SubscriptionPeriod[] = [];
  let [start, left] = [microsOfText(row.current_period_end), count];
  for (let cycle = nextCycleOf(row); start <= now || left > 0; cycle++) {
    const { end, days } = periods.periodOf(row, cycle, start);
    const text = days === null ? null : formatDays(days);
    after.push({ cycle, plan_id: row.plan_id, period_start: isoOf(start), period_end: isoOf(end), days: text });
    if (start > now) left -= 1;
    start = end;
  }
  return after;
}
