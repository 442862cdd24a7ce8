// The kinds and states of what is billed, as tables and answers have them.

export type ChargeType = 'FIXED' | 'USAGE';
export const SUBSCRIPTION_STATUSES = ['SCHEDULED', 'TRIAL', 'ACTIVE', 'PAST_DUE', 'CANCELED'] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];
export type BillingAlignment = 'anniversary' | 'calendar';
export const INVOICE_KINDS = ['SUBSCRIPTION', 'ADJUSTMENT'] as const;
export type InvoiceKind = (typeof INVOICE_KINDS)[number];
/** What an invoice is once it is finalized. */
export const FINALIZED_STATUSES = ['OPEN', 'PAID', 'VOID', 'UNCOLLECTIBLE'] as const;
export const INVOICE_STATUSES = ['DRAFT', ...FINALIZED_STATUSES] as const;
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];
export const LINE_KINDS = ['FIXED', 'USAGE', 'LATE_USAGE', 'ADJUSTMENT'] as const;
export type LineKind = (typeof LINE_KINDS)[number];
