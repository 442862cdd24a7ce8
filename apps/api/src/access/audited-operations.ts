// Every operation that changes something, and under which name the audit log has it. An unsafe route that stands in neither
// table stops the start: nothing that changes is forgotten.

/** How the audit log tells of an operation. */
export interface AuditedOperation {
  /** The kind of resource, and what was done to it. */
  action: string;
  /**
   * Where the id of the resource stands: in a parameter of the path, or in the answer of what makes one. `organization` and
   * `self` are those of the caller; null: there is none.
   */
  resource: 'id' | 'charge_id' | 'line_id' | 'token_id' | 'payment_id' | 'answer' | 'organization' | 'self' | null;
  /** Parameters of the path that tell more, by the name that they get among the changes. */
  within?: Record<string, string>;
}

const made = (kind: string): AuditedOperation => ({ action: `${kind}.create`, resource: 'answer' });
const done = (action: string): AuditedOperation => ({ action, resource: 'id' });

export const AUDITED: Record<string, AuditedOperation> = {
  'PATCH /api/v1/organization': { action: 'organization.update', resource: 'organization' },
  'PATCH /api/v1/billing/settings': { action: 'billing_settings.update', resource: 'organization' },
  'PATCH /api/v1/widget/settings': { action: 'widget_settings.update', resource: 'organization' },
  'POST /api/v1/auth/password': { action: 'user.change_password', resource: 'self' },
  'DELETE /api/v1/auth/sessions': { action: 'user.end_other_sessions', resource: 'self' },
  'DELETE /api/v1/auth/sessions/:id': done('session.delete'),
  'PATCH /api/v1/users/:id': done('user.update'),
  'DELETE /api/v1/users/:id': done('user.delete'),
  'POST /api/v1/users/:id/password-reset': done('user.make_reset_link'),
  'POST /api/v1/invitations': made('invitation'),
  'DELETE /api/v1/invitations/:id': done('invitation.delete'),
  'POST /api/v1/api-keys': made('api_key'),
  'DELETE /api/v1/api-keys/:id': done('api_key.delete'),
  'POST /api/v1/service-accounts': made('service_account'),
  'PATCH /api/v1/service-accounts/:id': done('service_account.update'),
  'DELETE /api/v1/service-accounts/:id': done('service_account.delete'),
  'POST /api/v1/service-accounts/:id/tokens': { ...made('service_token'), within: { id: 'service_account_id' } },
  'DELETE /api/v1/service-accounts/:id/tokens/:token_id': {
    action: 'service_token.delete',
    resource: 'token_id',
    within: { id: 'service_account_id' },
  },
  'POST /api/v1/widget/token': { action: 'widget_token.create', resource: null },
  'POST /api/v1/features': made('feature'),
  'PATCH /api/v1/features/:id': done('feature.update'),
  'DELETE /api/v1/features/:id': done('feature.delete'),
  'PATCH /api/v1/meters/:id': done('meter.update'),
  'POST /api/v1/plans': made('plan'),
  'PATCH /api/v1/plans/:id': done('plan.update'),
  'DELETE /api/v1/plans/:id': done('plan.delete'),
  'POST /api/v1/plans/:id/features': done('plan.add_feature'),
  'PATCH /api/v1/plans/:id/features/:feature_id': {
    ...done('plan.update_feature'),
    within: { feature_id: 'feature_id' },
  },
  'DELETE /api/v1/plans/:id/features/:feature_id': {
    ...done('plan.remove_feature'),
    within: { feature_id: 'feature_id' },
  },
  'POST /api/v1/plans/:id/charges': { ...made('charge'), within: { id: 'plan_id' } },
  'PATCH /api/v1/plans/:id/charges/:charge_id': {
    action: 'charge.update',
    resource: 'charge_id',
    within: { id: 'plan_id' },
  },
  'POST /api/v1/customers': made('customer'),
  'PATCH /api/v1/customers/:id': done('customer.update'),
  'DELETE /api/v1/customers/:id': done('customer.delete'),
  'POST /api/v1/erasures': made('erasure'),
  'POST /api/v1/usage-moves': made('usage_move'),
  'POST /api/v1/customers/:id/credits': { ...made('credit'), within: { id: 'customer_id' } },
  'POST /api/v1/credits/:id/void': done('credit.void'),
  'POST /api/v1/subscriptions': made('subscription'),
  'PATCH /api/v1/subscriptions/:id': done('subscription.update'),
  'POST /api/v1/subscriptions/:id/cancel': done('subscription.cancel'),
  'POST /api/v1/subscriptions/:id/change': done('subscription.change'),
  'POST /api/v1/subscriptions/:id/settle': done('subscription.settle'),
  'POST /api/v1/invoices/:id/finalize': done('invoice.finalize'),
  // Its entry names the drafts.
  'POST /api/v1/invoices/finalize': { action: 'invoice.finalize', resource: null },
  'POST /api/v1/invoices/:id/pay': done('invoice.pay'),
  'DELETE /api/v1/invoices/:id/payments/:payment_id': {
    action: 'payment.take_back',
    resource: 'payment_id',
    within: { id: 'invoice_id' },
  },
  'POST /api/v1/invoices/:id/void': done('invoice.void'),
  'POST /api/v1/invoices/:id/uncollectible': done('invoice.mark_uncollectible'),
  'POST /api/v1/invoices/:id/lines': { ...made('invoice_line'), within: { id: 'invoice_id' } },
  'DELETE /api/v1/invoices/:id/lines/:line_id': {
    action: 'invoice_line.delete',
    resource: 'line_id',
    within: { id: 'invoice_id' },
  },
  'POST /api/v1/alerts': made('alert'),
  'PATCH /api/v1/alerts/:id': done('alert.update'),
  'DELETE /api/v1/alerts/:id': done('alert.delete'),
  'POST /api/v1/webhook-endpoints': made('webhook_endpoint'),
  'PATCH /api/v1/webhook-endpoints/:id': done('webhook_endpoint.update'),
  'DELETE /api/v1/webhook-endpoints/:id': done('webhook_endpoint.delete'),
  'POST /api/v1/webhook-endpoints/:id/rotate': done('webhook_endpoint.rotate'),
  'POST /api/v1/webhook-endpoints/:id/test': done('webhook_endpoint.test'),
  'POST /api/v1/webhook-endpoints/:id/replay': done('webhook_endpoint.replay'),
  'POST /api/v1/deliveries/:id/retry': done('delivery.retry'),
  'POST /api/v1/events/:id/replay': done('event.replay'),
  'POST /api/v1/events/:id/void': done('event.void'),
  'POST /api/v1/events/:id/amend': done('event.amend'),
  // Its entry names the events.
  'POST /api/v1/corrections': { action: 'correction.create', resource: null },
};

/** Unsafe by their method, and no changes of what an organization has set up. */
export const NOT_AUDITED: ReadonlySet<string> = new Set([
  // Usage, of which each event has a receipt.
  'POST /api/v1/sdk/track',
  'POST /api/v1/sdk/track/batch',
  // They compute, and keep nothing.
  'POST /api/v1/charges/evaluate',
  'POST /api/v1/corrections/preview',
  'POST /api/v1/invoices/:id/recompute',
  'POST /api/v1/subscriptions/preview',
  'POST /api/v1/subscriptions/:id/preview-invoice',
  'POST /api/v1/subscriptions/:id/preview-change',
  // It only looks whether a link is valid.
  'POST /api/v1/auth/invitation',
  // Anybody may ask, and the account alone gets the link: its use has an entry.
  'POST /api/v1/auth/password-reset/request',
  // Who does it is known only once it is done: they write their entries themselves, in the transaction of the change.
  'POST /api/v1/auth/signup',
  'POST /api/v1/auth/login',
  'POST /api/v1/auth/logout',
  'POST /api/v1/auth/invitation/accept',
  'POST /api/v1/auth/password-reset',
]);
