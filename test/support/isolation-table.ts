// Every operation of the API and what of it could be about another organization, for test/access/isolation.test.ts.

import { usageCharge } from './billing-fixture.ts';

/** What the owner has, by the name of the thing; the same names with ids that nobody has; and what the stranger has. */
export type Ids = Record<
  | 'apiKey'
  | 'serviceAccount'
  | 'serviceToken'
  | 'feature'
  | 'lookupKey'
  | 'meter'
  | 'token'
  | 'plan'
  | 'charge'
  | 'customer'
  | 'subscription'
  | 'invoice'
  | 'line'
  | 'payment'
  | 'credit'
  | 'event'
  | 'rejected'
  | 'user'
  | 'session'
  | 'invitation'
  | 'erasure'
  | 'usageMove'
  | 'endpoint'
  | 'delivery',
  string
>;

/** Ids and names that nobody has. */
export const nobodys: Ids = {
  apiKey: '01890000-0000-7000-8000-000000000001',
  serviceAccount: '01890000-0000-7000-8000-000000000012',
  serviceToken: '01890000-0000-7000-8000-000000000013',
  feature: '01890000-0000-7000-8000-000000000002',
  lookupKey: 'no-such-feature',
  meter: '01890000-0000-7000-8000-000000000003',
  token: 'mtr_000000000000000000000000',
  plan: '01890000-0000-7000-8000-000000000004',
  charge: '01890000-0000-7000-8000-000000000008',
  customer: '01890000-0000-7000-8000-000000000005',
  subscription: '01890000-0000-7000-8000-000000000009',
  invoice: '01890000-0000-7000-8000-00000000000a',
  line: '01890000-0000-8000-8000-00000000000b',
  payment: '01890000-0000-7000-8000-000000000012',
  credit: '01890000-0000-7000-8000-00000000000c',
  event: '01890000-0000-7000-8000-000000000006',
  rejected: '01890000-0000-7000-8000-000000000007',
  user: '01890000-0000-7000-8000-00000000000d',
  session: '01890000-0000-7000-8000-00000000000e',
  invitation: '01890000-0000-7000-8000-00000000000f',
  erasure: '01890000-0000-7000-8000-000000000010',
  usageMove: '01890000-0000-7000-8000-000000000011',
  endpoint: '01890000-0000-7000-8000-000000000012',
  delivery: '01890000-0000-7000-8000-000000000013',
};

const TAKE_BACK = 'DELETE /api/v1/invoices/{id}/payments/{payment_id}';

export type Row = [operation: string, path: (ids: Ids) => string, body?: (ids: Ids) => object];

/** The operations, with `own` for what the one who asks has. */
export function isolationTable(own: () => Ids): { operations: Row[]; lists: Row[]; namesNothing: string[] } {
  // Everything that names a thing by its id, in the path, the query or the body.
  const operations: Row[] = [
    ['DELETE /api/v1/auth/sessions/{id}', ({ session }) => `/auth/sessions/${session}`],
    ['PATCH /api/v1/users/{id}', ({ user }) => `/users/${user}`, () => ({ role: 'viewer' })],
    ['DELETE /api/v1/users/{id}', ({ user }) => `/users/${user}`],
    ['POST /api/v1/users/{id}/password-reset', ({ user }) => `/users/${user}/password-reset`],
    ['DELETE /api/v1/invitations/{id}', ({ invitation }) => `/invitations/${invitation}`],
    ['DELETE /api/v1/api-keys/{id}', ({ apiKey }) => `/api-keys/${apiKey}`],
    ['GET /api/v1/service-accounts/{id}', ({ serviceAccount }) => `/service-accounts/${serviceAccount}`],
    [
      'PATCH /api/v1/service-accounts/{id}',
      ({ serviceAccount }) => `/service-accounts/${serviceAccount}`,
      () => ({ role: 'viewer' }),
    ],
    ['DELETE /api/v1/service-accounts/{id}', ({ serviceAccount }) => `/service-accounts/${serviceAccount}`],
    ['GET /api/v1/service-accounts/{id}/tokens', ({ serviceAccount }) => `/service-accounts/${serviceAccount}/tokens`],
    [
      'POST /api/v1/service-accounts/{id}/tokens',
      ({ serviceAccount }) => `/service-accounts/${serviceAccount}/tokens`,
      () => ({ name: 'Mine' }),
    ],
    [
      'DELETE /api/v1/service-accounts/{id}/tokens/{token_id}',
      ({ serviceAccount, serviceToken }) => `/service-accounts/${serviceAccount}/tokens/${serviceToken}`,
    ],
    [
      'DELETE /api/v1/service-accounts/{id}/tokens/{token_id}',
      ({ serviceToken }) => `/service-accounts/${own().serviceAccount}/tokens/${serviceToken}`,
    ],
    ['GET /api/v1/features/{id}', ({ feature }) => `/features/${feature}`],
    ['PATCH /api/v1/features/{id}', ({ feature }) => `/features/${feature}`, () => ({ name: 'Mine' })],
    ['PATCH /api/v1/features/{id}', ({ feature }) => `/features/${feature}`, () => ({ unit: 'mine' })],
    ['DELETE /api/v1/features/{id}', ({ feature }) => `/features/${feature}`],
    ['GET /api/v1/meters/{id}', ({ meter }) => `/meters/${meter}`],
    ['PATCH /api/v1/meters/{id}', ({ meter }) => `/meters/${meter}`, () => ({ status: 'ARCHIVED' })],
    ['GET /api/v1/meters/{id}/usage', ({ meter }) => `/meters/${meter}/usage`],
    [
      'GET /api/v1/meters/{id}/usage',
      ({ meter }) => `/meters/${meter}/usage?group_by_metadata=model&filter[model]=shared-name`,
    ],
    ['PATCH /api/v1/meters/{id}', ({ meter }) => `/meters/${meter}`, () => ({ metadata_keys: ['mine'] })],
    ['GET /api/v1/usage', ({ token }) => `/usage?meter_token=${token}&group_by_metadata=model`],
    ['GET /api/v1/meters/{id}/customers', ({ meter }) => `/meters/${meter}/customers`],
    ['GET /api/v1/meters/{id}/usage', ({ customer }) => `/meters/${own().meter}/usage?customer_id=${customer}`],
    ['GET /api/v1/meters/{id}/usage', ({ meter }) => `/meters/${meter}/usage?customer_external_id=shared-name`],
    ['GET /api/v1/usage', ({ token }) => `/usage?meter_token=${token}&customer_external_id=shared-name`],
    ['GET /api/v1/usage', ({ customer }) => `/usage?meter_token=${own().token}&customer_id=${customer}`],
    ['GET /api/v1/widget/meters/{id}/usage', ({ meter }) => `/widget/meters/${meter}/usage`],
    ['PATCH /api/v1/widget/settings', () => '/widget/settings', ({ meter }) => ({ meter_ids: [own().meter, meter] })],
    ['POST /api/v1/erasures', () => '/erasures', ({ customer }) => ({ customer_id: customer })],
    ['GET /api/v1/erasures/{id}', ({ erasure }) => `/erasures/${erasure}`],
    ['GET /api/v1/usage-moves/{id}', ({ usageMove }) => `/usage-moves/${usageMove}`],
    ['GET /api/v1/plans/{id}', ({ plan }) => `/plans/${plan}`],
    ['PATCH /api/v1/plans/{id}', ({ plan }) => `/plans/${plan}`, () => ({ is_active: false })],
    ['DELETE /api/v1/plans/{id}', ({ plan }) => `/plans/${plan}`],
    [
      'POST /api/v1/plans/{id}/features',
      ({ plan }) => `/plans/${plan}/features`,
      () => ({ feature_id: own().feature }),
    ],
    [
      'POST /api/v1/plans/{id}/features',
      () => `/plans/${own().plan}/features`,
      ({ feature }) => ({ feature_id: feature }),
    ],
    [
      'PATCH /api/v1/plans/{id}/features/{feature_id}',
      ({ plan, feature }) => `/plans/${plan}/features/${feature}`,
      () => ({ is_enabled: false }),
    ],
    [
      'PATCH /api/v1/plans/{id}/features/{feature_id}',
      ({ feature }) => `/plans/${own().plan}/features/${feature}`,
      () => ({ usage_limit: 1 }),
    ],
    ['DELETE /api/v1/plans/{id}/features/{feature_id}', ({ plan, feature }) => `/plans/${plan}/features/${feature}`],
    ['DELETE /api/v1/plans/{id}/features/{feature_id}', ({ feature }) => `/plans/${own().plan}/features/${feature}`],
    ['POST /api/v1/plans/{id}/charges', ({ plan }) => `/plans/${plan}/charges`, () => usageCharge(own().meter)],
    [
      'POST /api/v1/plans/{id}/charges',
      () => `/plans/${own().plan}/charges`,
      ({ meter }) => usageCharge(meter, { unit_price: 1 }),
    ],
    [
      'PATCH /api/v1/plans/{id}/charges/{charge_id}',
      ({ plan, charge }) => `/plans/${plan}/charges/${charge}`,
      () => ({ status: 'INACTIVE' }),
    ],
    [
      'PATCH /api/v1/plans/{id}/charges/{charge_id}',
      ({ charge }) => `/plans/${own().plan}/charges/${charge}`,
      () => ({ display_name: 'Mine' }),
    ],
    [
      'POST /api/v1/charges/evaluate',
      () => '/charges/evaluate',
      ({ meter }) => ({ currency: 'USD', charge: usageCharge(meter) }),
    ],
    [
      'POST /api/v1/subscriptions',
      () => '/subscriptions',
      ({ customer }) => ({ customer_id: customer, plan_id: own().plan }),
    ],
    [
      'POST /api/v1/subscriptions',
      () => '/subscriptions',
      ({ plan }) => ({ customer_external_id: 'shared-name', plan_id: plan }),
    ],
    [
      'POST /api/v1/subscriptions/preview',
      () => '/subscriptions/preview',
      ({ customer }) => ({ customer_id: customer, plan_id: own().plan }),
    ],
    [
      'POST /api/v1/subscriptions/preview',
      () => '/subscriptions/preview',
      ({ plan }) => ({ customer_external_id: 'shared-name', plan_id: plan }),
    ],
    ['POST /api/v1/invoices/finalize', () => '/invoices/finalize', ({ invoice }) => ({ ids: [invoice] })],
    ['GET /api/v1/subscriptions/{id}', ({ subscription }) => `/subscriptions/${subscription}`],
    ['GET /api/v1/subscriptions/{id}/periods', ({ subscription }) => `/subscriptions/${subscription}/periods?count=2`],
    [
      'PATCH /api/v1/subscriptions/{id}',
      ({ subscription }) => `/subscriptions/${subscription}`,
      () => ({ pending_plan_id: null }),
    ],
    [
      'POST /api/v1/subscriptions/{id}/cancel',
      ({ subscription }) => `/subscriptions/${subscription}/cancel`,
      () => ({ cancel_at_period_end: false }),
    ],
    [
      'POST /api/v1/subscriptions/{id}/change',
      ({ subscription }) => `/subscriptions/${subscription}/change`,
      () => ({ plan_id: own().plan }),
    ],
    [
      'POST /api/v1/subscriptions/{id}/change',
      () => `/subscriptions/${own().subscription}/change`,
      ({ plan }) => ({ plan_id: plan }),
    ],
    [
      'POST /api/v1/subscriptions/{id}/preview-change',
      ({ subscription }) => `/subscriptions/${subscription}/preview-change`,
      () => ({ plan_id: own().plan }),
    ],
    [
      'POST /api/v1/subscriptions/{id}/preview-change',
      () => `/subscriptions/${own().subscription}/preview-change`,
      ({ plan }) => ({ plan_id: plan }),
    ],
    ['GET /api/v1/customers/{id}', ({ customer }) => `/customers/${customer}`],
    ['PATCH /api/v1/customers/{id}', ({ customer }) => `/customers/${customer}`, () => ({ name: 'Mine' })],
    ['DELETE /api/v1/customers/{id}', ({ customer }) => `/customers/${customer}`],
    ['GET /api/v1/customers/{id}/usage', ({ customer }) => `/customers/${customer}/usage`],
    ['GET /api/v1/subscriptions/{id}/invoices', ({ subscription }) => `/subscriptions/${subscription}/invoices`],
    ['GET /api/v1/subscriptions/{id}/usage', ({ subscription }) => `/subscriptions/${subscription}/usage`],
    [
      'POST /api/v1/subscriptions/{id}/preview-invoice',
      ({ subscription }) => `/subscriptions/${subscription}/preview-invoice`,
    ],
    ['POST /api/v1/subscriptions/{id}/settle', ({ subscription }) => `/subscriptions/${subscription}/settle`],
    ['GET /api/v1/invoices/{id}', ({ invoice }) => `/invoices/${invoice}`],
    ['GET /api/v1/invoices/{id}/lines', ({ invoice }) => `/invoices/${invoice}/lines?cursor=0`],
    ['GET /api/v1/plans/{id}/charges', ({ plan }) => `/plans/${plan}/charges`],
    ['POST /api/v1/invoices/{id}/recompute', ({ invoice }) => `/invoices/${invoice}/recompute`, () => ({})],
    ['POST /api/v1/invoices/{id}/finalize', ({ invoice }) => `/invoices/${invoice}/finalize`],
    ['POST /api/v1/invoices/{id}/pay', ({ invoice }) => `/invoices/${invoice}/pay`, () => ({ reference: 'mine' })],
    [TAKE_BACK, ({ invoice, payment }) => `/invoices/${invoice}/payments/${payment}`],
    [TAKE_BACK, ({ payment }) => `/invoices/${own().invoice}/payments/${payment}`],
    ['POST /api/v1/invoices/{id}/void', ({ invoice }) => `/invoices/${invoice}/void`, () => ({})],
    ['POST /api/v1/invoices/{id}/uncollectible', ({ invoice }) => `/invoices/${invoice}/uncollectible`, () => ({})],
    [
      'POST /api/v1/invoices/{id}/lines',
      ({ invoice }) => `/invoices/${invoice}/lines`,
      () => ({ description: 'Mine', amount: -1 }),
    ],
    ['DELETE /api/v1/invoices/{id}/lines/{line_id}', ({ invoice, line }) => `/invoices/${invoice}/lines/${line}`],
    [
      'GET /api/v1/invoices/{id}/lines/{line_id}/usage',
      ({ invoice, line }) => `/invoices/${invoice}/lines/${line}/usage`,
    ],
    ['GET /api/v1/invoices/{id}/lines/{line_id}/usage', ({ line }) => `/invoices/${own().invoice}/lines/${line}/usage`],
    [
      'GET /api/v1/invoices/{id}/lines/{line_id}/events',
      ({ invoice, line, event }) => `/invoices/${invoice}/lines/${line}/events?cursor=${event}`,
    ],
    [
      'GET /api/v1/invoices/{id}/lines/{line_id}/events',
      ({ line }) => `/invoices/${own().invoice}/lines/${line}/events`,
    ],
    [
      'POST /api/v1/customers/{id}/credits',
      ({ customer }) => `/customers/${customer}/credits`,
      () => ({ amount: '1.00', currency: 'USD' }),
    ],
    ['GET /api/v1/customers/{id}/credits', ({ customer }) => `/customers/${customer}/credits`],
    ['GET /api/v1/credits/{id}/entries', ({ credit }) => `/credits/${credit}/entries`],
    ['GET /api/v1/invoices/{id}/credits', ({ invoice }) => `/invoices/${invoice}/credits`],
    ['POST /api/v1/credits/{id}/void', ({ credit }) => `/credits/${credit}/void`],
    ['GET /api/v1/customers/{id}/entitlements', ({ customer }) => `/customers/${customer}/entitlements`],
    [
      'GET /api/v1/customers/{id}/entitlements',
      ({ lookupKey }) => `/customers/${own().customer}/entitlements?feature=${lookupKey}&quantity=1`,
    ],
    [
      'GET /api/v1/entitlements',
      ({ lookupKey }) => `/entitlements?customer_external_id=shared-name&feature=${lookupKey}&quantity=1`,
    ],
    ['GET /api/v1/webhook-endpoints/{id}', ({ endpoint }) => `/webhook-endpoints/${endpoint}`],
    [
      'PATCH /api/v1/webhook-endpoints/{id}',
      ({ endpoint }) => `/webhook-endpoints/${endpoint}`,
      () => ({ status: 'DISABLED' }),
    ],
    ['DELETE /api/v1/webhook-endpoints/{id}', ({ endpoint }) => `/webhook-endpoints/${endpoint}`],
    ['POST /api/v1/webhook-endpoints/{id}/rotate', ({ endpoint }) => `/webhook-endpoints/${endpoint}/rotate`],
    ['POST /api/v1/webhook-endpoints/{id}/test', ({ endpoint }) => `/webhook-endpoints/${endpoint}/test`],
    [
      'POST /api/v1/webhook-endpoints/{id}/replay',
      ({ endpoint }) => `/webhook-endpoints/${endpoint}/replay`,
      () => ({ from: 1 }),
    ],
    ['GET /api/v1/webhook-endpoints/{id}/deliveries', ({ endpoint }) => `/webhook-endpoints/${endpoint}/deliveries`],
    ['POST /api/v1/deliveries/{id}/retry', ({ delivery }) => `/deliveries/${delivery}/retry`],
    ['GET /api/v1/events/{id}', ({ event }) => `/events/${event}`],
    ['GET /api/v1/events/{id}', ({ rejected }) => `/events/${rejected}`],
    ['POST /api/v1/events/{id}/replay', ({ rejected }) => `/events/${rejected}/replay`, () => ({})],
    ['POST /api/v1/events/{id}/void', ({ event }) => `/events/${event}/void`, () => ({ reason: 'a test' })],
    [
      'POST /api/v1/events/{id}/amend',
      ({ event }) => `/events/${event}/amend`,
      () => ({ reason: 'a test', quantity: 2 }),
    ],
    [
      'POST /api/v1/corrections',
      () => '/corrections',
      ({ event }) => ({ corrections: [{ type: 'void', event_id: event, reason: 'a test' }] }),
    ],
    [
      'POST /api/v1/sdk/track',
      () => '/sdk/track',
      ({ token }) => ({ meter_token: token, customer_external_id: 'shared-name', quantity: 1 }),
    ],
    [
      'POST /api/v1/sdk/track/batch',
      () => '/sdk/track/batch',
      ({ token }) => ({ events: [{ meter_token: token, customer_external_id: 'shared-name', quantity: 1 }] }),
    ],
  ];

  // Everything that lists or adds up, with each of its filters. None of it tells whether another organization has the thing.
  const lists: Row[] = [
    ['GET /api/v1/auth/sessions', () => '/auth/sessions'],
    ['GET /api/v1/users', () => '/users'],
    ['GET /api/v1/invitations', () => '/invitations'],
    ['GET /api/v1/audit-log', () => '/audit-log'],
    ['GET /api/v1/audit-log', ({ user }) => `/audit-log?user_id=${user}`],
    ['GET /api/v1/audit-log', ({ plan }) => `/audit-log?resource_id=${plan}&action=plan.create`],
    ['GET /api/v1/audit-log', ({ event }) => `/audit-log?cursor=${event}`],
    ['GET /api/v1/api-keys', () => '/api-keys'],
    ['GET /api/v1/service-accounts', () => '/service-accounts'],
    ['GET /api/v1/features', () => '/features'],
    ['GET /api/v1/meters', () => '/meters'],
    ['GET /api/v1/meters', () => '/meters?search=Meter&status=ACTIVE&aggregation_type=UNIQUE_COUNT'],
    ['GET /api/v1/features', () => '/features?search=Meter&type=meter&aggregation_type=UNIQUE_COUNT&page=1'],
    ['GET /api/v1/plans', () => '/plans'],
    ['GET /api/v1/customers', () => '/customers'],
    ['GET /api/v1/customers', () => '/customers?search=Secret'],
    ['GET /api/v1/customers', () => '/customers?external_id=shared-name'],
    ['GET /api/v1/erasures', () => '/erasures'],
    ['GET /api/v1/usage-moves', () => '/usage-moves'],
    ['GET /api/v1/subscriptions', () => '/subscriptions'],
    ['GET /api/v1/subscriptions', ({ customer }) => `/subscriptions?customer_id=${customer}`],
    ['GET /api/v1/subscriptions', ({ plan }) => `/subscriptions?plan_id=${plan}&status=ACTIVE`],
    ['GET /api/v1/billing-events', () => '/billing-events'],
    ['GET /api/v1/billing-events', () => '/billing-events?after=1'],
    ['GET /api/v1/webhook-endpoints', () => '/webhook-endpoints'],
    ['GET /api/v1/billing/unbilled-usage', () => '/billing/unbilled-usage'],
    ['GET /api/v1/billing/unbilled-usage', () => '/billing/unbilled-usage?month=2026-11'],
    ['GET /api/v1/entitlements', () => '/entitlements?customer_external_id=shared-name'],
    ['GET /api/v1/events', () => '/events'],
    ['GET /api/v1/events', ({ meter }) => `/events?meter_id=${meter}`],
    ['GET /api/v1/events', () => '/events?customer_external_id=shared-name'],
    ['GET /api/v1/events', ({ token }) => `/events?meter_token=${token}`],
    ['GET /api/v1/events', () => '/events?idempotency_key=shared-key'],
    ['GET /api/v1/events', () => '/events?start_date=2020-01-01&reason=metadata.user_id'],
    ['GET /api/v1/events/rejections', () => '/events/rejections'],
    ['GET /api/v1/corrections', () => '/corrections'],
    ['GET /api/v1/events', ({ event }) => `/events?cursor=${event}`],
    ['GET /api/v1/invoices', () => '/invoices'],
    ['GET /api/v1/invoices', ({ customer }) => `/invoices?customer_id=${customer}`],
    ['GET /api/v1/invoices', ({ subscription }) => `/invoices?subscription_id=${subscription}&status=OPEN`],
    ['GET /api/v1/invoices', () => '/invoices?issued_from=2020-01-01'],
    ['GET /api/v1/invoices', () => '/invoices?from=2020-01-01'],
    ['GET /api/v1/invoices', () => '/invoices?is_past_due=true'],
    ['GET /api/v1/invoices', () => '/invoices?search=INV'],
    ['GET /api/v1/invoice-lines', () => '/invoice-lines'],
    ['GET /api/v1/invoice-lines', ({ customer }) => `/invoice-lines?customer_id=${customer}`],
    [
      'GET /api/v1/invoice-lines',
      ({ subscription }) => `/invoice-lines?subscription_id=${subscription}&issued_from=2020-01-01`,
    ],
    ['GET /api/v1/invoice-lines', ({ invoice }) => `/invoice-lines?cursor=2020-01-01.${invoice}.0`],
    ['GET /api/v1/credits', () => '/credits'],
    ['GET /api/v1/credits', ({ customer }) => `/credits?customer_id=${customer}`],
    ['GET /api/v1/credits/balance', () => '/credits/balance'],
    ['GET /api/v1/credits/balance', ({ customer }) => `/credits/balance?customer_id=${customer}`],
    ['GET /api/v1/widget/usage', () => '/widget/usage'],
    ['GET /api/v1/widget/billing-period', () => '/widget/billing-period'],
  ];

  // What names nothing that could be another organization's, and answers nothing but what was sent and who sent it.
  const namesNothing = [
    'POST /api/v1/auth/signup',
    'POST /api/v1/auth/login',
    'POST /api/v1/auth/logout',
    'GET /api/v1/auth/me',
    'GET /api/v1/auth/options',
    'POST /api/v1/auth/password',
    'DELETE /api/v1/auth/sessions',
    'GET /api/v1/organization',
    'PATCH /api/v1/organization',
    'POST /api/v1/invitations',
    // A token in a link belongs to nobody until it is used: test/access/people.test.ts and new-passwords.test.ts.
    'POST /api/v1/auth/invitation',
    'POST /api/v1/auth/invitation/accept',
    'POST /api/v1/auth/password-reset',
    'POST /api/v1/auth/password-reset/request',
    'POST /api/v1/api-keys',
    'POST /api/v1/service-accounts',
    'POST /api/v1/features',
    'POST /api/v1/plans',
    'POST /api/v1/customers',
    'GET /api/v1/billing/settings',
    // Its own sums: test/usage/overview.test.ts, test/operations/system.test.ts.
    'GET /api/v1/overview',
    'GET /api/v1/system',
    'PATCH /api/v1/billing/settings',
    // Its own meters: test/usage/widget.test.ts.
    'GET /api/v1/widget/settings',
    // Its customer is the organization's own, whatever its name: test/usage/widget.test.ts.
    'POST /api/v1/widget/token',
    // Nor do its ids reach further: test/operations/erase-customer.test.ts.
    'POST /api/v1/usage-moves',
    'POST /api/v1/webhook-endpoints',
  ];
  return { operations, lists, namesNothing };
}
