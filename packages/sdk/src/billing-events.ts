// What the events of billing hold, in the API's own words. Made of its document by clients/openapi/typescript.ts: change
// that, or the API, and `npx vitest run client-types -u`. Fields that Weir adds later are there at run time.

import type { Payment } from './billing.ts';

export interface DraftData {
  id: string;
  kind: 'SUBSCRIPTION' | 'ADJUSTMENT';
  status: 'DRAFT' | 'OPEN' | 'PAID' | 'VOID' | 'UNCOLLECTIBLE';
  subscription_id: string;
  customer_id: string;
  cycle: number | null;
  currency: string;
  period_start: string;
  period_end: string;
  /** When its grace is over. Null where the billing settings leave it to people to finalize. */
  finalizes_at: string | null;
}

export interface InvoiceData {
  id: string;
  kind: 'SUBSCRIPTION' | 'ADJUSTMENT';
  status: 'DRAFT' | 'OPEN' | 'PAID' | 'VOID' | 'UNCOLLECTIBLE';
  subscription_id: string;
  customer_id: string;
  cycle: number | null;
  currency: string;
  period_start: string;
  period_end: string;
  invoice_number: string | null;
  /** A decimal, in units of the currency. */
  total: string;
  /** A decimal, in units of the currency. */
  credits_applied: string;
  /** A decimal, in units of the currency. */
  amount_paid: string;
  /** A decimal, in units of the currency. */
  amount_due: string;
  issue_date: string | null;
  due_date: string | null;
  paid_at: string | null;
  reference: string | null;
  note: string | null;
}

export interface InvoicePaymentData {
  id: string;
  kind: 'SUBSCRIPTION' | 'ADJUSTMENT';
  status: 'DRAFT' | 'OPEN' | 'PAID' | 'VOID' | 'UNCOLLECTIBLE';
  subscription_id: string;
  customer_id: string;
  cycle: number | null;
  currency: string;
  period_start: string;
  period_end: string;
  invoice_number: string | null;
  /** A decimal, in units of the currency. */
  total: string;
  /** A decimal, in units of the currency. */
  credits_applied: string;
  /** A decimal, in units of the currency. */
  amount_paid: string;
  /** A decimal, in units of the currency. */
  amount_due: string;
  issue_date: string | null;
  due_date: string | null;
  paid_at: string | null;
  reference: string | null;
  note: string | null;
  payment: Payment;
}

export interface PaidInvoiceData {
  id: string;
  kind: 'SUBSCRIPTION' | 'ADJUSTMENT';
  status: 'DRAFT' | 'OPEN' | 'PAID' | 'VOID' | 'UNCOLLECTIBLE';
  subscription_id: string;
  customer_id: string;
  cycle: number | null;
  currency: string;
  period_start: string;
  period_end: string;
  invoice_number: string | null;
  /** A decimal, in units of the currency. */
  total: string;
  /** A decimal, in units of the currency. */
  credits_applied: string;
  /** A decimal, in units of the currency. */
  amount_paid: string;
  /** A decimal, in units of the currency. */
  amount_due: string;
  issue_date: string | null;
  due_date: string | null;
  paid_at: string | null;
  reference: string | null;
  note: string | null;
  payment?: Payment;
}

export interface VoidedInvoiceData {
  id: string;
  kind: 'SUBSCRIPTION' | 'ADJUSTMENT';
  status: 'DRAFT' | 'OPEN' | 'PAID' | 'VOID' | 'UNCOLLECTIBLE';
  subscription_id: string;
  customer_id: string;
  cycle: number | null;
  currency: string;
  period_start: string;
  period_end: string;
  invoice_number: string | null;
  /** A decimal, in units of the currency. */
  total: string;
  /** A decimal, in units of the currency. */
  credits_applied: string;
  /** A decimal, in units of the currency. */
  amount_paid: string;
  /** A decimal, in units of the currency. */
  amount_due: string;
  issue_date: string | null;
  due_date: string | null;
  paid_at: string | null;
  reference: string | null;
  note: string | null;
  /** Whether its charges are billed again; else they were waived. Earlier versions did not say. */
  rebilled?: boolean;
}

export interface SubscriptionData {
  id: string;
  external_id: string | null;
  customer_id: string;
  plan_id: string;
  pending_plan_id: string | null;
  status: 'SCHEDULED' | 'TRIAL' | 'ACTIVE' | 'PAST_DUE' | 'CANCELED';
  cycle: number | null;
  current_period_start: string;
  current_period_end: string;
  cancel_at_period_end: boolean;
  canceled_at: string | null;
  ended_at: string | null;
}

export interface GrantedCreditData {
  credit_id: string;
  customer_id: string;
  currency: string;
  /** A decimal, in units of the currency. */
  amount: string;
  invoice_id: string | null;
}

export interface VoidedCreditData {
  credit_id: string;
  customer_id: string;
  currency: string;
  /** A decimal, in units of the currency. */
  amount: string;
}

export interface UnpricedUsageData {
  meter_id: string;
  reason: 'price_ended' | 'not_in_plan' | 'after_end' | 'no_subscription';
  month: string;
  day: string;
  events: number;
  customers: number;
}

export interface ReachedThresholdData {
  /** Of the crossing. */
  id: string;
  alert_id: string;
  /** Of the alert. */
  name: string;
  customer_id: string | null;
  customer_external_id: string;
  /** Null: an amount was reached. */
  meter_id: string | null;
  /** Whose period it is. Null: a month of the calendar. */
  subscription_id: string | null;
  /** Of an amount. */
  currency: string | null;
  period_start: string;
  period_end: string;
  threshold: string;
  /** What it had come to when it was seen. */
  value: string;
}

export interface DisabledEndpointData {
  id: string;
  reason: 'FAILING' | 'GONE';
  failing_since: string | null;
}

/** What an event of the feed holds, by its type. */
export interface EventData {
  'invoice.created': DraftData;
  'invoice.finalized': InvoiceData;
  'invoice.credited': InvoiceData;
  'invoice.uncollectible': InvoiceData;
  'invoice.past_due': InvoiceData;
  'invoice.payment_recorded': InvoicePaymentData;
  'invoice.payment_taken_back': InvoicePaymentData;
  'invoice.paid': PaidInvoiceData;
  'invoice.voided': VoidedInvoiceData;
  'subscription.created': SubscriptionData;
  'subscription.activated': SubscriptionData;
  'subscription.changed': SubscriptionData;
  'subscription.past_due': SubscriptionData;
  'subscription.canceled': SubscriptionData;
  'credit.granted': GrantedCreditData;
  'credit.voided': VoidedCreditData;
  'usage.unpriced': UnpricedUsageData;
  'usage.threshold_reached': ReachedThresholdData;
  'webhook_endpoint.disabled': DisabledEndpointData;
}
