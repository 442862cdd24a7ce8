// What tests of alerts share: alerts that are made over HTTP, and what they have crossed once all that waits was looked at.

import { performAlerts } from '@weir/db/alerts/perform-alerts';
import { expect } from 'vitest';
import { until } from './harness.ts';
import type { Invoicing } from './invoicing.ts';

export interface Crossed {
  customer_external_id: string;
  customer_id: string | null;
  subscription_id: string | null;
  currency: string | null;
  period_start: string;
  period_end: string;
  threshold: string;
  value: string;
}

/** Makes an alert and returns its id. */
export async function makeAlert(
  { post }: Pick<Invoicing, 'post'>,
  fields: object,
  thresholds: (number | string)[],
): Promise<string> {
  return (await post('/alerts', { name: 'Alert', thresholds, ...fields }, 201)).id;
}

/** Waits until nothing that has changed is not looked at. Workers may look at the same time. */
export async function settleAlerts({ database, admin }: Pick<Invoicing, 'database' | 'admin'>): Promise<void> {
  await until(async () => {
    await performAlerts(database, admin.id, 1_000);
    const { rows } = await database.pool.query(
      `SELECT FROM touched_usage WHERE organization_id = $1
       UNION ALL SELECT FROM alerts WHERE organization_id = $1 AND (status = 'DELETED' OR status = 'ACTIVE' AND looked_after IS NOT NULL)`,
      [admin.id],
    );
    return rows.length === 0;
  }, 'all alerts have looked');
}

/** What an alert has crossed by now, oldest first; the feed says the same. */
export async function crossingsOf(billing: Invoicing, alert: string): Promise<Crossed[]> {
  await settleAlerts(billing);
  const { data } = await billing.get(`/alerts/${alert}/crossings?page_size=100`);
  const { rows: told } = await billing.database.pool.query(
    `SELECT data FROM billing_events WHERE organization_id = $1 AND type = 'usage.threshold_reached' AND data ->> 'alert_id' = $2
     ORDER BY sequence`,
    [billing.admin.id, alert],
  );
  const listed = data.toReversed().map((crossing: Record<string, unknown>) => {
    const { customer_name: _, crossed_at: __, time_zone: ___, ...rest } = crossing;
    return rest;
  });
  const fed = told.map(({ data }) => {
    const { alert_id: _, name: __, meter_id: ___, ...rest } = data;
    return rest;
  });
  const byId = (one: { id: string }, other: { id: string }) => one.id.localeCompare(other.id);
  expect(fed.toSorted(byId)).toEqual(listed.toSorted(byId));
  return listed;
}

/** The thresholds among them. */
export async function thresholdsCrossed(billing: Invoicing, alert: string): Promise<string[]> {
  return (await crossingsOf(billing, alert)).map(({ threshold }) => threshold);
}
