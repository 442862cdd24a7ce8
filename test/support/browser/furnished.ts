// An organization with something on every page of the console, made through the API.

import { signUp, until, type Organization, type Weir } from '../harness.ts';

export interface Furnished extends Organization {
  apiKey: string;
  /** Where each page is, by a name for it. */
  addresses: Record<string, string>;
  /** Those for somebody who is not signed in: how one comes in, the reference and the guides. */
  openAddresses: Record<string, string>;
}

const DAY_MS = 86_400_000;

/** Makes it. The invoices of the three days before today are there: one paid, one open, one a draft. */
export async function furnish(weir: Weir): Promise<Furnished> {
  const organization = await signUp(weir);
  const { call } = organization;
  const apiKey = await organization.createKey();
  await call('PATCH', '/billing/settings', {
    invoice_grace_hours: 72,
    invoice_issuer: 'Weirworks Ltd\n12 Mill Lane\nCambridge CB1 2AB\nUnited Kingdom\nVAT GB 123 4567 89',
  });
  const feature = (name: string, key: string, aggregation: string, unit: string) =>
    call('POST', '/features', {
      name,
      lookup_key: key,
      type: 'meter',
      aggregation_type: aggregation,
      unit,
    });
  const tokens = await feature('Tokens', 'tokens', 'SUM', 'tokens');
  const requests = await feature('API requests', 'requests', 'COUNT', 'requests');
  const users = await feature('Active users', 'users', 'UNIQUE_COUNT', 'users');
  await call('POST', '/features', { name: 'Single sign-on', lookup_key: 'sso', type: 'switch' });
  const plan = await call('POST', '/plans', {
    name: 'Scale',
    lookup_id: 'scale',
    type: 'HYBRID',
    billing_interval: 'day',
    currency: 'USD',
    description: 'For teams that are past the first million.',
  });
  await call('POST', `/plans/${plan.id}/charges`, { type: 'FIXED', display_name: 'Base fee', unit_price: '49' });
  await call('POST', `/plans/${plan.id}/charges`, {
    type: 'USAGE',
    display_name: 'Tokens',
    meter_id: tokens.meter_id,
    model: 'graduated',
    tiers: [
      { up_to: '1000', unit_price: '0.10' },
      { up_to: null, unit_price: '0.08', flat_fee: '5' },
    ],
  });
  await call('POST', `/plans/${plan.id}/charges`, {
    type: 'USAGE',
    display_name: 'API requests',
    meter_id: requests.meter_id,
    unit_price: '0.002',
    included_units: '1000',
  });
  await call('POST', `/plans/${plan.id}/features`, {
    feature_id: tokens.id,
    usage_limit: 100_000,
    usage_reset_period: 'month',
  });
  const customer = await call('POST', '/customers', {
    external_id: 'acme',
    name: 'Acme Corporation',
    email: 'billing@acme.example',
    billing_address_line1: '1 Main Street',
    billing_address_city: 'Springfield',
    billing_address_postal_code: '12345',
    billing_address_country: 'US',
  });
  await call('POST', '/customers', { external_id: 'globex', name: 'Globex' });
  const start = new Date(Date.now() - 3 * DAY_MS).toISOString().slice(0, 10);
  const subscription = await call('POST', '/subscriptions', {
    customer_id: customer.id,
    plan_id: plan.id,
    start_date: start,
  });
  const events = Array.from({ length: 60 }, (_, index) => ({
    meter_token: [tokens, requests, tokens][index % 3].meter_token,
    customer_external_id: index % 7 === 0 ? 'globex' : 'acme',
    quantity: 100 + index * 3,
    metadata: { model: index % 2 === 0 ? 'large' : 'small' },
    timestamp: new Date(Date.parse(start) + (index / 60) * 3 * DAY_MS).toISOString(),
  }));
  const unfit = { meter_token: users.meter_token, customer_external_id: 'acme', quantity: 1, metadata: {} };
  await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, body: { events: [...events, unfit] } });
  await weir.drained();
  const invoices = async () => (await call('GET', `/invoices?subscription_id=${subscription.id}`)).data;
  await until(async () => (await invoices()).length >= 4, 'there is an invoice of each boundary');
  // The first is of the start, and the last of today: the day that ended in between has usage. At midnight there is one more.
  const [draft, open, paid, first] = (await invoices()).slice(-4);
  await call('POST', `/invoices/${first.id}/finalize`);
  await call('POST', `/invoices/${paid.id}/finalize`);
  await call('POST', `/invoices/${paid.id}/pay`, { reference: 'ch_3PqX' });
  await call('POST', `/customers/${customer.id}/credits`, { amount: '25.00', currency: 'USD', note: 'Welcome' });
  const { lines } = await call('POST', `/invoices/${open.id}/finalize`);
  const line = lines.find(({ description }: { description: string }) => description === 'Tokens');
  const endpoint = await call('POST', '/webhook-endpoints', { url: 'https://example.com/weir' });
  await call('POST', `/webhook-endpoints/${endpoint.id}/test`);
  const alert = await call('POST', '/alerts', {
    name: 'Nearly used up',
    meter_id: tokens.meter_id,
    thresholds: [1000, 5000],
  });
  const crossed = async () => (await call('GET', `/alerts/${alert.id}/crossings`)).data;
  await until(async () => (await crossed()).length > 0, 'the alert has looked at what is there');
  const invited = await call('POST', '/invitations', { email: 'ada@example.com', role: 'viewer' });
  const account = await call('POST', '/service-accounts', { name: 'Provisioning', role: 'biller' });
  const expires_at = new Date(Date.now() + 90 * DAY_MS).toISOString();
  await call('POST', `/service-accounts/${account.id}/tokens`, { name: 'Host 1' });
  await call('POST', `/service-accounts/${account.id}/tokens`, { name: 'Host 1, second', expires_at });
  const me = await call('GET', '/auth/me');
  const reset = await call('POST', `/users/${me.user.id}/password-reset`);
  return {
    ...organization,
    apiKey,
    addresses: {
      home: '/',
      usage: `/usage?meter=${tokens.meter_id}`,
      events: '/events',
      customers: '/customers',
      customer: `/customers/${customer.id}`,
      'customer-usage': `/customers/${customer.id}?tab=usage`,
      'customer-credits': `/customers/${customer.id}?tab=credits`,
      'customer-entitlements': `/customers/${customer.id}?tab=entitlements`,
      features: '/features',
      meter: `/meters/${tokens.meter_id}`,
      plans: '/plans',
      plan: `/plans/${plan.id}`,
      'new-plan': `/plans/new?copy=${plan.id}`,
      'edit-plan': `/plans/${plan.id}/edit`,
      subscriptions: '/subscriptions',
      subscription: `/subscriptions/${subscription.id}`,
      invoices: '/invoices',
      'invoice-draft': `/invoices/${draft.id}`,
      'invoice-open': `/invoices/${open.id}`,
      'invoice-line': `/invoices/${open.id}?line=${line.id}`,
      'invoice-paid': `/invoices/${paid.id}`,
      credits: `/credits?customer=${customer.id}`,
      'api-keys': '/api-keys',
      'service-accounts': '/service-accounts',
      'service-account': `/service-accounts/${account.id}`,
      alerts: '/alerts',
      alert: `/alerts/${alert.id}`,
      webhooks: '/webhooks',
      'webhook-endpoint': `/webhooks/${endpoint.id}`,
      settings: '/settings',
      people: '/settings?tab=people',
      account: '/settings?tab=account',
      'audit-log': '/settings?tab=audit-log',
      health: '/health',
    },
    openAddresses: {
      'sign-in': '/sign-in',
      'sign-up': '/sign-up',
      invitation: pathOf(invited.link),
      'forgotten-password': '/password-reset',
      'new-password': pathOf(reset.link),
      reference: '/docs',
      guides: '/docs/guides',
      guide: '/docs/guides/pricing-and-invoices',
    },
  };
}

/** What follows the host, with the token of the link. */
function pathOf(link: string): string {
  const { pathname, hash } = new URL(link);
  return `${pathname}${hash}`;
}
