// The kinds and states of what is billed, as tables and answers have them.

export type ChargeType = 'FIXED' | 'USAGE';
export type SubscriptionStatus = 'SCHEDULED' | 'TRIAL' | 'ACTIVE' | 'PAST_DUE' | 'CANCELED';
export type BillingAlignment = 'anniversary' | 'calendar';
export type InvoiceKind = 'SUBSCRIPTION' | 'ADJUSTMENT';
export type InvoiceStatus = 'DRAFT' | 'OPEN' | 'PAID' | 'VOID' | 'UNCOLLECTIBLE';
export type LineKind = 'FIXED' | 'USAGE' | 'LATE_USAGE' | 'ADJUSTMENT';
