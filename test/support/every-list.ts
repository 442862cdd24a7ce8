// An organization that has some rows in every list of the API, so that each can be read page by page.

import { signUp, until, type Weir } from './harness.ts';
import { sessionIn } from './people.ts';
import { fixedCharge, makeCustomer, makePricedPlan, usageCharge } from './billing-fixture.ts';

export interface Lists {
  session: string;
  /** Of the customer that has invoices. */
  widgetToken: string;
  /** Where a list of the document is that needs more than its path; `query` is sent with every request. */
  places: Record<string, { path: string; query?: Record<string, string> }>;
}

const DAY_MS = 86_400_000;
const THREE = [0, 1, 2];

/** Makes it. Every list has three rows or more. */
export async function makeLists(weir: Weir): Promise<Lists> {
  const admin = await signUp(weir);
  const { call } = admin;
  const post = (path: string, body: object = {}) => call('POST', path, body);
  /** Makes three of something, one after the other. */
  const three = async <Made>(make: (index: number) => Promise<Made>): Promise<[Made, Made, Made]> => [
    await make(0),
    await make(1),
    await make(2),
  ];

  for (const index of THREE) {
    const { link } = await post('/invitations', { email: `joined-${index}-${admin.email}`, role: 'viewer' });
    const body = { token: new URL(link).hash.slice(1), password: 'correct horse battery' };
    await weir.request('POST', '/api/v1/auth/invitation/accept', { body });
    await post('/invitations', { email: `open-${index}-${admin.email}`, role: 'viewer' });
  }
  const [account] = await three((index) => post('/service-accounts', { name: `Host ${index}`, role: 'viewer' }));
  await three((index) => post(`/service-accounts/${account.id}/tokens`, { name: `Token ${index}` }));
  const [apiKey] = await three(() => admin.createKey());

  const [meter, other, watched] = await three(() => admin.createMeter('COUNT'));
  const plan = await makePricedPlan(weir, admin, [fixedCharge('10'), fixedCharge('10'), fixedCharge('10')]);
  const daily = await makePricedPlan(weir, admin, [usageCharge(meter.id)], { billing_interval: 'day' });
  await makePricedPlan(weir, admin);
  const [customer, ...others] = await three((index) => makeCustomer(weir, admin, { external_id: `customer-${index}` }));
  const alert = await post('/alerts', { name: 'Alert', meter_id: watched.id, thresholds: [1, 2, 3] });
  await three((index) => post('/alerts', { name: `Alert ${index}`, meter_id: other.id, thresholds: [1_000] }));

  const start = new Date(Date.now() - 3 * DAY_MS).toISOString().slice(0, 10);
  const noon = `${start}T12:00:00Z`;
  const event = { meter_token: meter.token, quantity: 1, timestamp: noon };
  const events = [
    // Of this month, which an alert is about where no subscription bills the meter.
    ...THREE.map(() => ({ meter_token: watched.token, customer_external_id: customer.external_id, quantity: 1 })),
    ...THREE.map(() => ({ ...event, customer_external_id: customer.external_id })),
    ...others.map(({ external_id }) => ({ ...event, customer_external_id: external_id })),
    ...THREE.map(() => ({ ...event, meter_token: other.token, customer_external_id: customer.external_id })),
  ];
  const tracked = await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, body: { events } });
  await weir.drained();
  for (const { id } of tracked.body.data.slice(-3)) await post(`/events/${id}/void`, { reason: 'a test' });

  // One grant is drawn by three invoices, and one invoice draws on three grants.
  const [, , grant] = await three((index) =>
    post(`/customers/${customer.id}/credits`, { amount: index === 2 ? '100' : '10', currency: 'USD' }),
  );
  const subscriptions = await three(() => post('/subscriptions', { customer_id: customer.id, plan_id: plan.id }));
  const invoices: string[] = [];
  for (const { id } of subscriptions) {
    const { data } = await call('GET', `/subscriptions/${id}/invoices`);
    invoices.push((await post(`/invoices/${data[0].id}/finalize`)).id);
  }
  const [invoice] = invoices;
  const { id: used } = await post('/subscriptions', { customer_id: customer.id, plan_id: daily.id, start_date: start });
  const drafts = async () => (await call('GET', `/subscriptions/${used}/invoices`)).data;
  await until(async () => (await drafts()).length >= 3, 'there is an invoice of each day');
  const ofUsage = (await drafts()).find(({ total }: { total: string }) => total === '1.50');
  const { lines } = await post(`/invoices/${ofUsage.id}/finalize`);
  const line = lines.find((each: { event_count: number | null }) => each.event_count === 3);

  await three((index) => post('/erasures', { customer_external_id: `gone-${index}` }));
  await three((index) =>
    post('/usage-moves', { from_external_id: `wrong-${index}`, to_external_id: `right-${index}` }),
  );
  const [endpoint] = await three((index) =>
    post('/webhook-endpoints', { url: 'https://example.com/weir', status: index === 0 ? 'ACTIVE' : 'DISABLED' }),
  );
  await three(() => post(`/webhook-endpoints/${endpoint.id}/test`));
  await weir.pool.query(
    `INSERT INTO unbilled_usage_days (organization_id, day, meter_id, reason, events, customers)
     SELECT $1, '2026-01-15', $2, reason, 5, 1 FROM unnest(ARRAY['price_ended', 'not_in_plan', 'after_end']) AS reason`,
    [admin.id, other.id],
  );
  const crossed = async () => (await call('GET', `/alerts/${alert.id}/crossings`)).data;
  await until(async () => (await crossed()).length >= 3, 'the alert has looked');

  const widget = { apiKey, body: { customer_external_id: customer.external_id } };
  const { token: widgetToken } = (await weir.request('POST', '/api/v1/widget/token', widget)).body;
  const signIn = () => {
    const { email, password } = admin;
    return weir.request('POST', '/api/v1/auth/login', { body: { email, password } });
  };
  await signIn();
  // The one that reads the lists: it was used last from the beginning, so that reading does not change the order of the sessions.
  const reader = sessionIn(await signIn());
  const places: Record<string, string> = {
    '/service-accounts/{id}/tokens': `/service-accounts/${account.id}/tokens`,
    '/plans/{id}/charges': `/plans/${plan.id}/charges`,
    '/credits/{id}/entries': `/credits/${grant.id}/entries`,
    '/invoices/{id}/credits': `/invoices/${invoice}/credits`,
    '/webhook-endpoints/{id}/deliveries': `/webhook-endpoints/${endpoint.id}/deliveries`,
    '/alerts/{id}/crossings': `/alerts/${alert.id}/crossings`,
    '/subscriptions/{id}/invoices': `/subscriptions/${used}/invoices`,
    '/meters/{id}/customers': `/meters/${meter.id}/customers`,
    '/invoices/{id}/lines': `/invoices/${invoice}/lines`,
    '/invoices/{id}/lines/{line_id}/events': `/invoices/${ofUsage.id}/lines/${line.id}/events`,
    '/widget/invoices/{id}/lines': `/widget/invoices/${invoice}/lines`,
    '/widget/invoices/{id}/lines/{line_id}/events': `/widget/invoices/${ofUsage.id}/lines/${line.id}/events`,
  };
  return {
    session: reader,
    widgetToken,
    places: {
      ...Object.fromEntries(
        Object.entries(places).map(([path, place]) => [`/api/v1${path}`, { path: `/api/v1${place}` }]),
      ),
      '/api/v1/billing/unbilled-usage': { path: '/api/v1/billing/unbilled-usage', query: { month: '2026-01' } },
    },
  };
}
