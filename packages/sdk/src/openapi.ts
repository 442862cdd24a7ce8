// What the reads of the API ask and answer, in its own words. Made of its document by clients/openapi/typescript.ts: change
// that, or the API, and `npx vitest run client-types -u`. Fields that Weir adds later are there at run time.

import type { JsonValue } from './event.ts';

export interface WindowQuery {
  /**
   * Usage counts from this instant on. ISO 8601 with an offset (write + as %2B), or a bare date in the time zone.
   * Default: the midnight 30 days before the end.
   */
  start_date?: string | Date | undefined;
  /**
   * Usage counts until before this instant; a bare date includes that day. ISO 8601 with an offset (write + as
   * %2B), or a bare date in the time zone. Default: now; events of a clock that is ahead are in it once that is
   * past.
   */
  end_date?: string | Date | undefined;
  /** A time zone of the IANA database, such as Europe/Berlin. Default: UTC. */
  timezone?: string | undefined;
}

export interface UsageParameters extends WindowQuery {
  /** Weeks are those of ISO 8601: they begin on Monday. Default: day. */
  group_by?: 'hour' | 'day' | 'week' | 'month' | undefined;
  /** One of the meter's metadata_keys. The answer then has groups: the usage of each of its values, largest first. */
  group_by_metadata?: string | undefined;
  /** How many values are told apart. The others are one group, the rest. 1 to 100. */
  groups_limit?: number | undefined;
  /**
   * filter[model]=gpt-4: only events with this value, by any of the meter's metadata_keys. Numbers and booleans as
   * text.
   */
  filter?: Record<string, string> | undefined;
  /** The id of the record. */
  customer_id?: string | undefined;
  /** Your own identifier; no record is needed. */
  customer_external_id?: string | undefined;
  meter_token: string;
}

export interface MeterCustomersQuery extends WindowQuery {
  /**
   * In which order; with a minus the other way round. -total_usage by default. By customer_external_id (its bytes)
   * each is met once, also while usage changes between two pages.
   */
  sort?: 'total_usage' | '-total_usage' | 'customer_external_id' | '-customer_external_id' | undefined;
  /** The meta.next_cursor of the page before. */
  cursor?: string | undefined;
  /** How many at once: 20 by default. 1 to 100. */
  limit?: number | undefined;
  /** In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. 1 to 1000000. */
  page?: number | undefined;
  /** In the place of limit, where page is sent. 1 to 100. */
  page_size?: number | undefined;
}

export interface EventsQuery {
  status?: 'recorded' | 'voided' | 'rejected' | 'duplicate' | undefined;
  meter_id?: string | undefined;
  meter_token?: string | undefined;
  customer_external_id?: string | undefined;
  idempotency_key?: string | undefined;
  /** Why events were rejected, as GET /events/rejections has it: no others have a reason. */
  reason?: string | undefined;
  /** Events of this time or later: ISO 8601 with an offset, or a date (UTC). */
  start_date?: string | Date | undefined;
  /** Events of before this time; a date includes that day (UTC). */
  end_date?: string | Date | undefined;
  cursor?: string | undefined;
  /** 1 to 100. */
  limit?: number | undefined;
}

export interface EntitlementsQuery {
  /** Your own identifier; no record is needed. */
  customer_external_id: string;
  /** The lookup_key of one feature. Without it, all that the subscriptions give. */
  feature?: string | undefined;
  /** How much is about to be used: whether all of it fits below the limit. */
  quantity?: string | number | undefined;
}

export interface CustomersQuery {
  /** A part of the external_id, the name or the email. In whatever case. */
  search?: string | undefined;
  /** The external_id itself, to the letter. */
  external_id?: string | undefined;
  /** In which order; with a minus the other way round. -created_at by default. */
  sort?: 'created_at' | '-created_at' | 'name' | '-name' | undefined;
  /** The meta.next_cursor of the page before. */
  cursor?: string | undefined;
  /** How many at once: 20 by default. 1 to 100. */
  limit?: number | undefined;
  /** In the place of a cursor: the number of a page, from 1 on. Then meta has the total, too. 1 to 1000000. */
  page?: number | undefined;
  /** In the place of limit, where page is sent. 1 to 100. */
  page_size?: number | undefined;
}

export interface UsagePeriod {
  /** 2026-11, 2026-W47, 2026-11-20, or an hour with its offset from UTC: 2026-11-20T16:00+01:00. */
  period: string;
  /** Where the calendar period begins; the window may begin later. */
  period_start: string;
  /**
   * An exact decimal; only averages are rounded, to 12 digits after the point, or to more where their sum has
   * more. Null where there is no largest, smallest, mean or last value: nothing was counted.
   */
  usage: string | null;
  event_count: number;
}

export interface UsageGroup {
  /**
   * As text. Null: the events have no such key, or null, an array or an object there; or this is the rest. A text
   * of more than 100 characters is its first 80 and a hash, and filter takes both forms.
   */
  value: string | null;
  /** All values beyond groups_limit together. */
  is_rest: boolean;
  /**
   * An exact decimal; only averages are rounded, to 12 digits after the point, or to more where their sum has
   * more. Null where there is no largest, smallest, mean or last value: nothing was counted.
   */
  total_usage: string | null;
  event_count: number;
  /** The periods of the whole, in the same order. */
  grouped_data: UsagePeriod[];
}

export interface MeterUsage {
  meter_id: string;
  aggregation_type: 'COUNT' | 'SUM' | 'MAX' | 'MIN' | 'AVG' | 'LAST' | 'UNIQUE_COUNT';
  unit: string | null;
  /**
   * An exact decimal; only averages are rounded, to 12 digits after the point, or to more where their sum has
   * more. Null where there is no largest, smallest, mean or last value: nothing was counted.
   */
  total_usage: string | null;
  event_count: number;
  unique_customers: number;
  period_start: string;
  /** The first instant that does not count any more. */
  period_end: string;
  /**
   * With group_by_metadata or filter: events of days (UTC) on which the meter saw more than 1,000 combinations of
   * values, and whose own was not among the first of them. They are in total_usage and in the rest, but under no
   * value and in no filter.
   */
  overflow_event_count?: number;
  grouped_data: UsagePeriod[];
  /** With group_by_metadata: largest first, then the rest if there is any. */
  groups?: UsageGroup[];
}

export interface MeterOfCustomer {
  meter_id: string;
  name: string;
  meter_token: string;
  aggregation_type: 'COUNT' | 'SUM' | 'MAX' | 'MIN' | 'AVG' | 'LAST' | 'UNIQUE_COUNT';
  unit: string | null;
  status: 'ACTIVE' | 'ARCHIVED';
  /**
   * An exact decimal; only averages are rounded, to 12 digits after the point, or to more where their sum has
   * more. Null where there is no largest, smallest, mean or last value: nothing was counted.
   */
  total_usage: string | null;
  event_count: number;
}

export interface CustomerUsage {
  customer_id: string;
  customer_external_id: string;
  period_start: string;
  period_end: string;
  data: MeterOfCustomer[];
}

export interface MeterCustomer {
  /** Null where the customer has no record. */
  customer_id: string | null;
  customer_external_id: string;
  name: string | null;
  /**
   * An exact decimal; only averages are rounded, to 12 digits after the point, or to more where their sum has
   * more. Null where there is no largest, smallest, mean or last value: nothing was counted.
   */
  total_usage: string | null;
  event_count: number;
}

export interface PageMeta {
  page: number;
  page_size: number;
  total: number;
  total_pages: number;
  /** The cursor of the next page; null: this was the last. */
  next_cursor: string | null;
}

export interface MeterCustomersPage {
  data: MeterCustomer[];
  meta: PageMeta | CursorMeta;
  meter_id: string;
  period_start: string;
  period_end: string;
}

export interface EventCorrection {
  id: string;
  reason: string;
  /** The event that counts in place of the one that is void. */
  amended_by: string | null;
  /** user: and the id of a user, or service_account: and that of a service account. */
  actor: string;
  created_at: string;
}

export interface EventReceipt {
  id: string;
  /** A voided event was recorded, and a correction has taken it out of the count. */
  status: 'queued' | 'recorded' | 'voided' | 'rejected' | 'duplicate';
  /** Why the event is not counted; for rejected events. */
  reason?: string;
  /** The event that holds the idempotency key; for duplicates. */
  duplicate_of?: string;
  correction?: EventCorrection;
  /** The voided event in whose place this one counts; where there is one. */
  amends?: string;
  /** Whether the event came in or was voided since the line before; for lines with changes=true. */
  change?: 'added' | 'removed';
  meter_id: string;
  customer_external_id: string;
  quantity: string;
  timestamp: string;
  received_at: string;
  idempotency_key: string | null;
  metadata: Record<string, JsonValue> | null;
}

export interface CursorMeta {
  /** The cursor of the next page; null: this was the last. */
  next_cursor: string | null;
}

export interface EventsPage {
  data: EventReceipt[];
  meta: CursorMeta;
}

export interface Entitlement {
  /** Its lookup_key. */
  feature: string;
  type: 'meter' | 'switch' | 'custom';
  has_access: boolean;
  reason: 'ok' | 'no_subscription' | 'not_in_plan' | 'disabled' | 'limit_reached';
  /** Null: there is none. */
  limit: string | null;
  /**
   * What is recorded in the window of the limit. Where the window begins within an hour, as that of a limit that
   * never resets may, events of that hour are missing while their month is taken out of the database.
   */
  usage: string | null;
  /** Null: there is no limit. That of an average is rounded as the usage is; has_access is judged by the fraction. */
  remaining: string | null;
  overage: string | null;
  is_soft_limit: boolean;
  static_value: string | null;
  /** Since when usage counts. */
  period_start: string | null;
  /** When it begins at 0 again; null: never. */
  resets_at: string | null;
  as_of: string;
  /**
   * Events that were accepted since then may not be in the usage yet. Null: all are. While the queue cannot be
   * asked it is period_start: any of them may be missing.
   */
  queued_since: string | null;
}

export interface Customer {
  id: string;
  external_id: string;
  name: string | null;
  email: string | null;
  phone: string | null;
  legal_name: string | null;
  tax_id: string | null;
  billing_address_line1: string | null;
  billing_address_line2: string | null;
  billing_address_city: string | null;
  billing_address_state: string | null;
  billing_address_country: string | null;
  billing_country_code: string | null;
  billing_address_postal_code: string | null;
  metadata: Record<string, JsonValue>;
  time_zone: string | null;
  created_at: string;
  /** When it was erased (POST /erasures): it does not change any more. */
  erased_at: string | null;
}

export interface CustomersPage {
  data: Customer[];
  meta: PageMeta | CursorMeta;
}

export interface WidgetToken {
  /** The secret. Give it to the browser of this one customer. */
  token: string;
  /** One hour after it was made. */
  expires_at: string;
}
