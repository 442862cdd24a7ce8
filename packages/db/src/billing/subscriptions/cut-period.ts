// Ends the open period of a subscription before its end, and its dues with it.

import { settleDue } from '@weir/billing/due';
import { scheduleOf } from '@weir/billing/schedules';
import type { Amount } from '@weir/rating/money';
import { daysOf } from '@weir/rating/proration';
import { microsOfText } from '@weir/shared/instant';
import type { Queries } from '../../database.ts';
import { findDues } from './dues.ts';
import { findArrears } from './open-periods.ts';
import type { SubscriptionRow } from './subscriptions.ts';

/** Usage counts up to the instant itself. Of days, that of the instant counts or does not, as `dateCounts` says. */
export async function cutPeriod(
  transaction: Queries,
  row: SubscriptionRow,
  { at, dateCounts }: { at: string; dateCounts: boolean },
): Promise<void> {
  const { organization_id, id, cycle, current_period_start } = row;
  if (cycle === null) throw new Error('a subscription without a period was to be cut');
  const [start, end] = [microsOfText(current_period_start), microsOfText(at)];
  const days = daysOf(scheduleOf(row), cycle, { start, end, endDateCounts: dateCounts });
  const cut = { period_end: at, days_in_force: days?.inForce ?? null, days_in_period: days?.inPeriod ?? null };
  for (const table of ['subscription_periods', 'dues'] as const) {
    await transaction
      .updateTable(table)
      .set(cut)
      .where('organization_id', '=', organization_id)
      .where('subscription_id', '=', id)
      .where('cycle', '=', cycle)
      .execute();
  }
}

/** Whether the open period, which was cut, has something that an invoice settles: what is billed at its end, or comes to less by now. */
export async function hasToSettle(transaction: Queries, row: SubscriptionRow): Promise<boolean> {
  if ((await findArrears(transaction, row.organization_id, [row])).has(row.id)) return true;
  return await hasDifference(transaction, row);
}

/** The draft that bills the open period in advance, and what that comes to by now; undefined where it is no draft any more, or there was none. */
export async function readAdvance(
  transaction: Queries,
  row: SubscriptionRow,
): Promise<{ draft: string; amount: Amount } | undefined> {
  const { organization_id, id, cycle, currency } = row;
  if (cycle === null) return undefined;
  const draft = await transaction
    .selectFrom('invoices')
    .select('id')
    .where('organization_id', '=', organization_id)
    .where('subscription_id', '=', id)
    .where('cycle', '=', cycle)
    .where('status', '=', 'DRAFT')
    .executeTakeFirst();
  if (draft === undefined) return undefined;
  const asked = { subscription_id: id, cycle, inAdvanceOnly: true };
  const dues = await findDues(transaction, organization_id, [asked]);
  const amount = dues.reduce((sum, due) => sum + settleDue(due, undefined, currency).amount, 0n);
  return { draft: draft.id, amount };
}

/** Whether something was billed in advance that comes to another amount now. While its invoice is a draft, that shows it itself. */
async function hasDifference(transaction: Queries, row: SubscriptionRow): Promise<boolean> {
  const dues = await transaction
    .selectFrom('dues')
    .select(['terms', 'billed', 'days_in_force', 'days_in_period'])
    .where('organization_id', '=', row.organization_id)
    .where('subscription_id', '=', row.id)
    .where('cycle', '=', row.cycle)
    .where('meter_id', 'is', null)
    .where('closing', 'is not', null)
    .execute();
  return dues.some((due) => settleDue(due, undefined, row.currency).amount !== 0n);
}
