// The tables of billing, for kysely. Timestamps, dates, decimals and bigints come as text.

import type { ChargeTerms } from '@weir/rating/charge-terms';
import type { RatedDetail } from '@weir/rating/rate';
import type { Interval } from '@weir/rating/periods';
import type { ColumnType, Generated } from 'kysely';
import type {
  ChargeType,
  SubscriptionStatus,
  BillingAlignment,
  InvoiceKind,
  InvoiceStatus,
  LineKind,
} from '@weir/billing/kinds';
import type { Int8, Json, Time, TimeOrNull } from '../columns.ts';
import type { Party } from './parties.ts';

type CreditEntryKind = 'DRAW' | 'RETURN' | 'VOID';

interface Charges {
  organization_id: string;
  id: string;
  plan_id: string;
  display_name: string;
  type: ChargeType;
  meter_id: string | null;
  terms: Json<ChargeTerms>;
  created_at: Time;
  effective_from: Time;
  ended_at: TimeOrNull;
  replaces: string | null;
}

interface Subscriptions {
  organization_id: string;
  id: string;
  external_id: string | null;
  customer_id: string;
  customer_external_id: string;
  plan_id: string;
  pending_plan_id: string | null;
  status: Exclude<SubscriptionStatus, 'SCHEDULED'>;
  time_zone: string;
  currency: string;
  billing_interval: Interval;
  billing_alignment: BillingAlignment;
  start_at: ColumnType<string, string, string>;
  trial_end_at: TimeOrNull;
  anchor: string;
  anchor_at: ColumnType<string, string, string>;
  anchor_cycle: Generated<number>;
  cycle: number | null;
  current_period_start: ColumnType<string, string, string>;
  current_period_end: ColumnType<string, string, string>;
  cancel_at_period_end: Generated<boolean>;
  cancel_reason: string | null;
  canceled_at: TimeOrNull;
  ended_at: TimeOrNull;
  run_at: TimeOrNull;
  run_error: string | null;
  closing: Int8;
  is_scheduled: Generated<boolean>;
  created_at: Time;
}

interface BilledMeters {
  organization_id: string;
  meter_id: string;
  customer_external_id: string;
  subscription_id: string;
  ended_at: TimeOrNull;
}

interface SubscriptionPeriods {
  organization_id: string;
  subscription_id: string;
  cycle: number;
  plan_id: string;
  period_start: ColumnType<string, string, string>;
  period_end: ColumnType<string, string, string>;
  days_in_force: number | null;
  days_in_period: number | null;
  opened_at: Time;
}

interface Dues {
  organization_id: string;
  subscription_id: string;
  cycle: number;
  charge_id: string;
  display_name: string;
  terms: Json<ChargeTerms>;
  meter_id: string | null;
  customer_external_id: string;
  period_start: ColumnType<string, string, string>;
  period_end: ColumnType<string, string, string>;
  days_in_force: number | null;
  days_in_period: number | null;
  closing: ColumnType<string | null, string | number | null | undefined, string | number | null>;
  billed: ColumnType<string, string | undefined, string>;
  rebills: Generated<number>;
  rebilling: Generated<boolean>;
}

interface Invoices {
  organization_id: string;
  id: string;
  kind: InvoiceKind;
  status: InvoiceStatus;
  subscription_id: string;
  customer_id: string;
  cycle: number | null;
  currency: string;
  period_start: ColumnType<string, string, string>;
  period_end: ColumnType<string, string, string>;
  created_at: Time;
  finalizes_at: ColumnType<string | null, string, string | null>;
  run_at: TimeOrNull;
  run_error: string | null;
  finalized_at: TimeOrNull;
  invoice_number: string | null;
  issue_date: string | null;
  due_date: string | null;
  past_due_at: TimeOrNull;
  subtotal: string | null;
  total: string | null;
  credits_applied: string | null;
  amount_paid: string | null;
  customer: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>;
  issuer: Generated<string | null>;
  seller: ColumnType<Party | null, string | null | undefined, string | null>;
  buyer: ColumnType<Party | null, string | null | undefined, string | null>;
  is_past_due: Generated<boolean>;
  paid_at: TimeOrNull;
  reference: string | null;
  note: string | null;
  uncollectible_at: TimeOrNull;
}

interface Payments {
  organization_id: string;
  invoice_id: string;
  id: string;
  amount: string;
  paid_at: ColumnType<string, string, string>;
  reference: string | null;
  created_at: Time;
  taken_back_at: TimeOrNull;
  note: string | null;
}

interface InvoiceLines {
  organization_id: string;
  id: string;
  invoice_id: string;
  position: number;
  kind: LineKind;
  description: string;
  subscription_id: string | null;
  cycle: number | null;
  charge_id: string | null;
  period_start: TimeOrNull;
  period_end: TimeOrNull;
  days_in_force: number | null;
  days_in_period: number | null;
  quantity: string | null;
  event_count: ColumnType<string | null, string | number | null | undefined, string | number | null>;
  detail: ColumnType<RatedDetail | null, string | null | undefined, string | null>;
  exact_amount: string;
  billed_before: string;
  amount: string;
  waived: Generated<string | null>;
  rebills: Generated<number>;
  rebilled: Generated<number | null>;
  closing: ColumnType<string | null, string | number | null | undefined, string | number | null>;
  rating_version: number;
  created_at: Time;
}

interface InvoiceNumbers {
  organization_id: string;
  year: number;
  last_number: Int8;
  issue_date: TimeOrNull;
  /** Null where the version before alone has numbered. */
  last_at: TimeOrNull;
}

interface Closings {
  organization_id: string;
  number: Int8;
  until: ColumnType<string, string, string>;
  closed_at: ColumnType<string, string, string>;
}

interface LateEvents {
  organization_id: string;
  meter_id: string;
  customer_external_id: string;
  timestamp: ColumnType<string, string, never>;
  event_id: string;
  closing: Int8;
  quantity: string;
  voids: ColumnType<string | null, never, never>;
}

interface CreditGrants {
  organization_id: string;
  id: string;
  external_id: string | null;
  customer_id: string;
  currency: string;
  amount: string;
  remaining: string;
  priority: Generated<number>;
  expires_at: TimeOrNull;
  note: string | null;
  invoice_id: string | null;
  voided_at: TimeOrNull;
  created_at: Time;
}

interface CreditEntries {
  organization_id: string;
  grant_id: string;
  id: string;
  kind: CreditEntryKind;
  amount: string;
  invoice_id: string | null;
  created_at: Time;
}

interface BillingFeeds {
  organization_id: string;
  last_sequence: Int8;
  /** Null where the version before appended last, and alone. */
  last_at: Time | null;
}

interface BillingEvents {
  organization_id: string;
  sequence: Int8;
  type: string;
  created_at: ColumnType<string, string, never>;
  actor: string;
  data: Json<Record<string, unknown>>;
}

export interface BillingTables {
  charges: Charges;
  subscriptions: Subscriptions;
  billed_meters: BilledMeters;
  subscription_periods: SubscriptionPeriods;
  dues: Dues;
  invoices: Invoices;
  payments: Payments;
  invoice_lines: InvoiceLines;
  invoice_numbers: InvoiceNumbers;
  closings: Closings;
  late_events: LateEvents;
  credit_grants: CreditGrants;
  credit_entries: CreditEntries;
  billing_feeds: BillingFeeds;
  billing_events: BillingEvents;
}
