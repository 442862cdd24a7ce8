// The tables of webhooks, for kysely.

import type { ColumnType, Generated } from 'kysely';
import type { Int8, Time, TimeOrNull } from '../columns.ts';

export type EndpointStatus = 'ACTIVE' | 'DISABLED';

/** Why Weir turned an endpoint off: days of failures, or an answer that says there is nobody any more. */
export type DisabledReason = 'FAILING' | 'GONE';

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED';

/** One request to a receiver, and what came back. */
export interface Attempt {
  at: string;
  /** Of the answer; null: there was none. */
  status: number | null;
  ms: number;
  /** Why there was none; null where there was. */
  error: string | null;
  /** What the answer begins with. */
  answer: string | null;
}

interface WebhookEndpoints {
  organization_id: string;
  id: string;
  url: string;
  event_types: ColumnType<string[] | null, string[] | null, string[] | null>;
  status: Generated<EndpointStatus>;
  disabled_reason: DisabledReason | null;
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_secret_until: TimeOrNull;
  last_sequence: Int8;
  replay_next: ColumnType<string | null, string | number | null | undefined, string | number | null>;
  replay_last: ColumnType<string | null, string | number | null | undefined, string | number | null>;
  failing_since: TimeOrNull;
  answer_ms: number | null;
  held_by: string | null;
  held_until: TimeOrNull;
  created_at: Time;
  /** It is there for deliveries that are still to be deleted, and for nothing else. */
  deleted_at: TimeOrNull;
}

interface WebhookDeliveries {
  organization_id: string;
  id: string;
  endpoint_id: string;
  sequence: ColumnType<string | null, string | number | null | undefined, never>;
  status: Generated<DeliveryStatus>;
  next_attempt_at: TimeOrNull;
  tries: Generated<number>;
  attempt_count: Generated<number>;
  attempts: ColumnType<Attempt[], string | undefined, string>;
  created_at: Time;
  delivered_at: TimeOrNull;
}

export interface WebhookTables {
  webhook_endpoints: WebhookEndpoints;
  webhook_deliveries: WebhookDeliveries;
}
