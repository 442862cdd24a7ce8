// The tables of alerts, for kysely.

import type { ColumnType, Generated } from 'kysely';
import type { Time } from '../columns.ts';

/** What an alert is to do. */
export type AlertStatus = 'ACTIVE' | 'DISABLED';

interface Alerts {
  organization_id: string;
  id: string;
  name: string;
  meter_id: string | null;
  customer_id: string | null;
  thresholds: ColumnType<string, string[], string[]>;
  status: Generated<AlertStatus | 'DELETED'>;
  looked_after: ColumnType<string | null, string | null | undefined, string | null>;
  look_asked_at: Time;
  /** It tells of no period that was over by then. */
  told_from: Time;
  created_at: Time;
}

interface AlertCrossings {
  organization_id: string;
  id: string;
  alert_id: string;
  customer_external_id: string;
  /** Its record, where it had one then. */
  customer_id: string | null;
  subscription_id: string | null;
  currency: string | null;
  period_start: Time;
  period_end: Time;
  /** Null in rows of before: that of the subscription, or the organization's of now. */
  time_zone: string | null;
  threshold: string;
  value: string;
  crossed_at: Time;
}

interface TouchedUsage {
  organization_id: string;
  id: Generated<string>;
  customer_external_id: string;
  meter_id: string | null;
  /** Subscriptions of the customer up to this one have been looked at. */
  after_subscription_id: Generated<string | null>;
  touched_at: Time;
}

export interface AlertTables {
  alerts: Alerts;
  alert_crossings: AlertCrossings;
  touched_usage: TouchedUsage;
}
