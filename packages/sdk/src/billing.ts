// What the API answers about billing, in its own words. Made of its document by clients/openapi/typescript.ts: change
// that, or the API, and `npx vitest run client-types -u`. Fields that Weir adds later are there at run time.

import type { JsonValue } from './event.ts';

export interface Party {
  legal_name: string | null;
  tax_id: string | null;
  address_line1: string | null;
  address_line2: string | null;
  city: string | null;
  state: string | null;
  postal_code: string | null;
  /** Two letters of ISO 3166-1. */
  country: string | null;
}

export interface Plan {
  id: string;
  name: string;
  lookup_id: string;
  type: 'FIXED' | 'USAGE' | 'HYBRID';
  billing_interval: 'day' | 'week' | 'month' | 'year';
  currency: string;
  is_active: boolean;
  trial_days: number;
  description: string | null;
  created_at: string;
}

export interface PlanFeature {
  feature_id: string;
  is_enabled: boolean;
  /** A decimal; null: unlimited. */
  usage_limit: string | null;
  usage_reset_period: 'hour' | 'day' | 'week' | 'month' | 'year' | null;
  is_soft_limit: boolean;
  static_value: string | null;
  created_at: string;
}

export interface PlanWithFeatures {
  id: string;
  name: string;
  lookup_id: string;
  type: 'FIXED' | 'USAGE' | 'HYBRID';
  billing_interval: 'day' | 'week' | 'month' | 'year';
  currency: string;
  is_active: boolean;
  trial_days: number;
  description: string | null;
  created_at: string;
  features: PlanFeature[];
  /** Those that have not ended, and the 20 that ended last. All: GET /plans/{id}/charges. */
  charges: Charge[];
  /** How many have ended, where these are not all of them. */
  ended_charges_total?: number;
}

export interface FixedCharge {
  id: string;
  plan_id: string;
  display_name: string;
  status: 'ACTIVE' | 'INACTIVE';
  created_at: string;
  /** Periods that begin from here on are billed by it. */
  effective_from: string;
  /** Periods that begin from here on are not. One in the future is where another charge takes its place. */
  ended_at: string | null;
  /** The charge whose place it takes. */
  replaces: string | null;
  type: 'FIXED';
  meter_id: null;
  timing: 'in_advance' | 'in_arrears';
  /** A decimal. */
  unit_price: string;
}

export interface PerUnitCharge {
  id: string;
  plan_id: string;
  display_name: string;
  status: 'ACTIVE' | 'INACTIVE';
  created_at: string;
  /** Periods that begin from here on are billed by it. */
  effective_from: string;
  /** Periods that begin from here on are not. One in the future is where another charge takes its place. */
  ended_at: string | null;
  /** The charge whose place it takes. */
  replaces: string | null;
  type: 'USAGE';
  meter_id: string;
  minimum_amount: string | null;
  maximum_amount: string | null;
  model: 'per_unit';
  /** A decimal. */
  unit_price: string;
  included_units: string | null;
}

export interface GraduatedOrVolumeCharge {
  id: string;
  plan_id: string;
  display_name: string;
  status: 'ACTIVE' | 'INACTIVE';
  created_at: string;
  /** Periods that begin from here on are billed by it. */
  effective_from: string;
  /** Periods that begin from here on are not. One in the future is where another charge takes its place. */
  ended_at: string | null;
  /** The charge whose place it takes. */
  replaces: string | null;
  type: 'USAGE';
  meter_id: string;
  minimum_amount: string | null;
  maximum_amount: string | null;
  model: 'graduated' | 'volume';
  tiers: Tier[];
}

export interface Tier {
  up_to: string | null;
  /** A decimal. */
  unit_price: string;
  /** A decimal. */
  flat_fee: string;
}

export interface PackageCharge {
  id: string;
  plan_id: string;
  display_name: string;
  status: 'ACTIVE' | 'INACTIVE';
  created_at: string;
  /** Periods that begin from here on are billed by it. */
  effective_from: string;
  /** Periods that begin from here on are not. One in the future is where another charge takes its place. */
  ended_at: string | null;
  /** The charge whose place it takes. */
  replaces: string | null;
  type: 'USAGE';
  meter_id: string;
  minimum_amount: string | null;
  maximum_amount: string | null;
  model: 'package';
  /** A decimal. */
  unit_price: string;
  /** A decimal. */
  package_size: string;
  included_units: string | null;
}

export interface PercentageCharge {
  id: string;
  plan_id: string;
  display_name: string;
  status: 'ACTIVE' | 'INACTIVE';
  created_at: string;
  /** Periods that begin from here on are billed by it. */
  effective_from: string;
  /** Periods that begin from here on are not. One in the future is where another charge takes its place. */
  ended_at: string | null;
  /** The charge whose place it takes. */
  replaces: string | null;
  type: 'USAGE';
  meter_id: string;
  minimum_amount: string | null;
  maximum_amount: string | null;
  model: 'percentage';
  /** A decimal. */
  rate: string;
  fixed_amount: string | null;
  included_units: string | null;
}

export interface FixedChargeTerms {
  display_name: string;
  type: 'FIXED';
  meter_id: string | null;
  timing: 'in_advance' | 'in_arrears';
  /** A decimal. */
  unit_price: string;
}

export interface PerUnitChargeTerms {
  display_name: string;
  type: 'USAGE';
  meter_id: string | null;
  minimum_amount: string | null;
  maximum_amount: string | null;
  model: 'per_unit';
  /** A decimal. */
  unit_price: string;
  included_units: string | null;
}

export interface GraduatedOrVolumeChargeTerms {
  display_name: string;
  type: 'USAGE';
  meter_id: string | null;
  minimum_amount: string | null;
  maximum_amount: string | null;
  model: 'graduated' | 'volume';
  tiers: Tier[];
}

export interface PackageChargeTerms {
  display_name: string;
  type: 'USAGE';
  meter_id: string | null;
  minimum_amount: string | null;
  maximum_amount: string | null;
  model: 'package';
  /** A decimal. */
  unit_price: string;
  /** A decimal. */
  package_size: string;
  included_units: string | null;
}

export interface PercentageChargeTerms {
  display_name: string;
  type: 'USAGE';
  meter_id: string | null;
  minimum_amount: string | null;
  maximum_amount: string | null;
  model: 'percentage';
  /** A decimal. */
  rate: string;
  fixed_amount: string | null;
  included_units: string | null;
}

export interface Subscription {
  id: string;
  external_id: string | null;
  customer_id: string;
  customer_external_id: string;
  plan_id: string;
  plan_name: string;
  /** What it goes over to at the end of the period. */
  pending_plan_id: string | null;
  status: 'SCHEDULED' | 'TRIAL' | 'ACTIVE' | 'PAST_DUE' | 'CANCELED';
  start_date: string;
  trial_end_date: string | null;
  time_zone: string;
  currency: string;
  billing_interval: 'day' | 'week' | 'month' | 'year';
  billing_alignment: 'anniversary' | 'calendar';
  /** Counts periods from 0; null before the first one. */
  cycle: number | null;
  /**
   * How many periods have begun that are not opened yet. Of a long past the first ones are opened with the
   * request, and the run opens the others; until then it cannot be changed or canceled.
   */
  periods_to_open: number;
  /** In a trial, and before one, its own; before any other start, that. */
  current_period_start: string;
  current_period_end: string;
  cancel_at_period_end: boolean;
  cancel_reason: string | null;
  /** When its end was asked for. */
  canceled_at: string | null;
  /** When it ends or ended. */
  ended_at: string | null;
  created_at: string;
}

export interface Invoice {
  id: string;
  /** Null for a draft. */
  invoice_number: string | null;
  kind: 'SUBSCRIPTION' | 'ADJUSTMENT';
  status: 'DRAFT' | 'OPEN' | 'PAID' | 'VOID' | 'UNCOLLECTIBLE';
  customer_id: string;
  subscription_id: string;
  /** The boundary that it is of; null for an ADJUSTMENT, which is of none. */
  cycle: number | null;
  currency: string;
  /** A date in the time zone of the organization. */
  issue_date: string | null;
  due_date: string | null;
  period_start: string;
  period_end: string;
  /** A decimal with exactly the digits of the currency. */
  subtotal: string;
  /** A decimal with exactly the digits of the currency. */
  tax: string;
  /** A decimal with exactly the digits of the currency. */
  total: string;
  /** A decimal with exactly the digits of the currency. */
  credits_applied: string;
  /** A decimal with exactly the digits of the currency. */
  amount_paid: string;
  /** A decimal with exactly the digits of the currency. */
  amount_due: string;
  /** When its grace is over. Null where the billing settings leave it to people to finalize. */
  finalizes_at: string | null;
  finalized_at: string | null;
  /** When the last payment was made, once nothing is due. */
  paid_at: string | null;
  /** Of the payment after which nothing was due. */
  reference: string | null;
  note: string | null;
  /** Name and address as they were when it was finalized. */
  customer: Record<string, JsonValue> | null;
  /** Who issued it, in lines, as the settings said when it was finalized. Null before. */
  issuer: string | null;
  /** Whether it is open and its due date has ended. */
  is_past_due: boolean;
  /** Whether it is void and its charges are billed again. Of one that is void else, they were waived. */
  rebilled: boolean;
  /**
   * Who issued it, field by field, as the settings said when it was finalized. Null before, and where they do not
   * say.
   */
  seller: Party | null;
  /** To whom, field by field, as the customer was when it was finalized. Null before. */
  buyer: Party | null;
  created_at: string;
  /** When a draft was computed; null once it is finalized, and where it could not be. */
  computed_at: string | null;
  /**
   * Why a draft could not be computed, where others of a list could: its amounts are 0 then, and computed_at is
   * null. Null for all others.
   */
  not_computed: NotComputed | null;
}

export interface NotComputed {
  /** month_taken_out, or internal_error. */
  code: string;
  /** What is the matter and what to do about it, for a person. */
  detail: string;
}

export interface InvoiceLine {
  id: string;
  kind: 'FIXED' | 'USAGE' | 'LATE_USAGE' | 'ADJUSTMENT';
  description: string;
  charge_id: string | null;
  /** As it was when the period was opened. Null for an ADJUSTMENT. */
  charge: ChargeTerms | null;
  /** The period that it is for, counted. */
  cycle: number | null;
  period_start: string | null;
  period_end: string | null;
  /** Local dates in force, of those of the whole period; null where it is whole. */
  days: string | null;
  /**
   * What the meter reads. An exact decimal; only averages are rounded, to 12 digits after the point, or to more
   * where their sum has more.
   */
  quantity: string | null;
  event_count: number | null;
  /** By tier, or the number of packages, before minimum and maximum; else null. */
  detail: LineTier[] | LinePackages | null;
  /** What the due comes to, before the rounding: a decimal, or n/d. */
  exact_amount: string;
  /** A decimal with exactly the digits of the currency. */
  billed_before: string;
  /** exact_amount, rounded, less billed_before, plus waived. */
  amount: string;
  /**
   * What the line would have taken away more, had it been asked for: of void invoices nothing comes back. Null
   * where nothing was cut off.
   */
  waived: string | null;
  /** It bills what was recorded before this closing. Null in a draft. */
  closing: number | null;
  rating_version: number;
}

export interface LineTier {
  up_to: string | null;
  quantity: string;
  exact_amount: string;
}

export interface LinePackages {
  packages: string;
}

export interface InvoiceWithLines {
  id: string;
  /** Null for a draft. */
  invoice_number: string | null;
  kind: 'SUBSCRIPTION' | 'ADJUSTMENT';
  status: 'DRAFT' | 'OPEN' | 'PAID' | 'VOID' | 'UNCOLLECTIBLE';
  customer_id: string;
  subscription_id: string;
  /** The boundary that it is of; null for an ADJUSTMENT, which is of none. */
  cycle: number | null;
  currency: string;
  /** A date in the time zone of the organization. */
  issue_date: string | null;
  due_date: string | null;
  period_start: string;
  period_end: string;
  /** A decimal with exactly the digits of the currency. */
  subtotal: string;
  /** A decimal with exactly the digits of the currency. */
  tax: string;
  /** A decimal with exactly the digits of the currency. */
  total: string;
  /** A decimal with exactly the digits of the currency. */
  credits_applied: string;
  /** A decimal with exactly the digits of the currency. */
  amount_paid: string;
  /** A decimal with exactly the digits of the currency. */
  amount_due: string;
  /** When its grace is over. Null where the billing settings leave it to people to finalize. */
  finalizes_at: string | null;
  finalized_at: string | null;
  /** When the last payment was made, once nothing is due. */
  paid_at: string | null;
  /** Of the payment after which nothing was due. */
  reference: string | null;
  note: string | null;
  /** Name and address as they were when it was finalized. */
  customer: Record<string, JsonValue> | null;
  /** Who issued it, in lines, as the settings said when it was finalized. Null before. */
  issuer: string | null;
  /** Whether it is open and its due date has ended. */
  is_past_due: boolean;
  /** Whether it is void and its charges are billed again. Of one that is void else, they were waived. */
  rebilled: boolean;
  /**
   * Who issued it, field by field, as the settings said when it was finalized. Null before, and where they do not
   * say.
   */
  seller: Party | null;
  /** To whom, field by field, as the customer was when it was finalized. Null before. */
  buyer: Party | null;
  created_at: string;
  /** When a draft was computed; null once it is finalized, and where it could not be. */
  computed_at: string | null;
  /** At most 500, and those that hold 4000 tiers in all: of what is more, the first ones. */
  lines: InvoiceLine[];
  /** In the order in which they were recorded. Those that stand add up to amount_paid. */
  payments: Payment[];
  /** How many lines there are, where these are not all. */
  lines_total?: number;
  /** The cursor of the others in GET /invoices/{id}/lines, where these are not all. */
  lines_next_cursor?: string;
}

export interface Payment {
  id: string;
  /** A decimal with exactly the digits of the currency. */
  amount: string;
  paid_at: string;
  /** What paid it, such as the id of a processor. */
  reference: string | null;
  created_at: string;
  /** Null: it stands. */
  taken_back_at: string | null;
  /** Why it was taken back. */
  note: string | null;
}

export interface Credit {
  id: string;
  amount: string;
  currency: string;
  /** What can still be drawn. */
  remaining: string;
  priority: number;
  expires_at: string | null;
  note: string | null;
  external_id: string | null;
  status: 'ACTIVE' | 'USED' | 'EXPIRED' | 'VOID';
  created_at: string;
}

export type Charge = FixedCharge | PerUnitCharge | GraduatedOrVolumeCharge | PackageCharge | PercentageCharge;

export type ChargeTerms =
  | FixedChargeTerms
  | PerUnitChargeTerms
  | GraduatedOrVolumeChargeTerms
  | PackageChargeTerms
  | PercentageChargeTerms;
