// Whom the clients work for. All of it is made before the first fault, so that afterwards only what is meant to fail does.

import { AGGREGATION_TYPES } from '@weir/shared/meter';
import type { AlertFact, EndpointFact, History, OrganizationLine } from '../history.ts';
import type { BillingTime } from '../environment/billing-time.ts';
import type { Receiver } from '../environment/receiver.ts';
import type { HttpClient } from './http-client.ts';
import { alertsOf, bodyOfAlert } from './made-alerts.ts';
import { BILLING_SETTINGS, plansOf, ZONES } from './made-billing.ts';
import { answerOf, create } from './set-up.ts';
import { isGrouped } from './regions.ts';

const ORGANIZATIONS = 4;
/** The last ones bill their customers, by a time of their own. */
const BILLED_ORGANIZATIONS = 2;
const CUSTOMERS = 24;
/** Usage is not lost because a customer has no record, so some of them have none. */
const CUSTOMERS_WITH_RECORD = 6;
/** Of an organization that bills. Each has a subscription. */
const BILLED_CUSTOMERS = 12;

export interface Organization extends Omit<OrganizationLine, 'type' | 'at'> {
  /** The time that it bills by; none where it bills nothing. */
  billingTime?: BillingTime;
}

/** The external ids under which events are sent. */
export const CUSTOMER_IDS = Array.from({ length: CUSTOMERS }, (_, index) => `customer-${index}`);

/** Makes the organizations of the run with a meter of every kind, and writes them to the history. */
export async function makeOrganizations(
  client: HttpClient,
  history: History,
  { billingTime, receivers }: { billingTime: BillingTime; receivers: readonly Receiver[] },
): Promise<Organization[]> {
  const made: Organization[] = [];
  for (let index = 0; index < ORGANIZATIONS; index += 1) {
    const isBilled = index >= ORGANIZATIONS - BILLED_ORGANIZATIONS;
    const organization = await makeOrganization(client, index, isBilled ? receivers : undefined);
    history.write({ type: 'organization', at: history.now(), ...organization });
    made.push({ ...organization, ...(isBilled && { billingTime }) });
  }
  return made;
}

/** One that bills has its webhooks sent to these. */
async function makeOrganization(
  client: HttpClient,
  index: number,
  receivers: readonly Receiver[] | undefined,
): Promise<Organization> {
  const isBilled = receivers !== undefined;
  const credentials = { email: `admin-${index}@example.com`, password: `correct horse battery staple ${index}` };
  const signUp = await create(client, '/api/v1/auth/signup', {
    ...credentials,
    organization_name: `Organization ${index}`,
  });
  const { session } = signUp.answer;
  if (session === undefined) throw new Error('signing up set no session cookie');
  const headers = sessionHeaders(session);

  const meters: Organization['meters'] = [];
  for (const aggregation of AGGREGATION_TYPES) {
    const name = aggregation.toLowerCase();
    const metadata_keys = isGrouped(aggregation) ? ['region'] : [];
    const body = { name, lookup_key: name, type: 'meter', aggregation_type: aggregation, metadata_keys };
    const { body: feature } = await create(client, '/api/v1/features', body, headers);
    meters.push({ id: String(feature['meter_id']), token: String(feature['meter_token']), aggregation });
  }

  const customers: Organization['customers'] = [];
  for (const externalId of CUSTOMER_IDS.slice(0, isBilled ? BILLED_CUSTOMERS : CUSTOMERS_WITH_RECORD)) {
    // Those without a zone of their own are billed in that of the organization.
    const zone = isBilled && customers.length % 2 === 1 ? { time_zone: ZONES[1] } : {};
    const { body } = await create(client, '/api/v1/customers', { external_id: externalId, ...zone }, headers);
    customers.push({ id: String(body['id']), externalId });
  }
  // Before anything happens that they would be told of.
  const endpoints = await makeEndpoints(client, headers, index, receivers ?? []);
  const plans = isBilled ? await makeBilling(client, headers, { meters, customers }) : [];
  const alerts: AlertFact[] = [];
  for (const alert of isBilled ? alertsOf({ meters, customers }) : []) {
    const { body } = await create(client, '/api/v1/alerts', bodyOfAlert({ meters, customers }, alert), headers);
    alerts.push({ ...alert, id: String(body['id']) });
  }

  const scopes = ['usage.write', 'usage.read'];
  const { body: key } = await create(client, '/api/v1/api-keys', { name: 'clients', scopes }, headers);
  const { id } = signUp.body['organization'] as { id: string };
  return { index, id, session, apiKey: String(key['key']), meters, customers, plans, endpoints, alerts };
}

/** What the second endpoint of an organization is told of. */
const SOME_TYPES = ['invoice.finalized', 'invoice.paid', 'credit.granted'];

async function makeEndpoints(
  client: HttpClient,
  headers: Record<string, string>,
  organization: number,
  receivers: readonly Receiver[],
): Promise<EndpointFact[]> {
  const endpoints: EndpointFact[] = [];
  for (const [index, receiver] of receivers.entries()) {
    const name = `organization-${organization}-${index}`;
    const eventTypes = index === 0 ? null : SOME_TYPES;
    const fields = { url: receiver.urlOf(name), ...(eventTypes !== null && { event_types: eventTypes }) };
    const { body } = await create(client, '/api/v1/webhook-endpoints', fields, headers);
    endpoints.push({
      id: String(body['id']),
      name,
      receiver: receiver.name,
      secret: String(body['secret']),
      eventTypes,
    });
  }
  return endpoints;
}

/** Plans with prices, and a subscription of each customer to one of them. Returns the ids of the plans. */
async function makeBilling(
  client: HttpClient,
  headers: Record<string, string>,
  { meters, customers }: Pick<Organization, 'meters' | 'customers'>,
): Promise<string[]> {
  const settings = { ...BILLING_SETTINGS, time_zone: ZONES[0] };
  const patch = { method: 'PATCH', path: '/api/v1/billing/settings', headers, body: JSON.stringify(settings) };
  await answerOf(client, patch, 200);
  const plans: string[] = [];
  for (const { charges, ...plan } of plansOf(meters)) {
    const fields = { ...plan, lookup_id: `plan-${plans.length}`, type: 'HYBRID', currency: 'USD' };
    const id = String((await create(client, '/api/v1/plans', fields, headers)).body['id']);
    for (const charge of charges) await create(client, `/api/v1/plans/${id}/charges`, charge, headers);
    plans.push(id);
  }
  for (const [index, { id }] of customers.entries()) {
    const alignment = index % 3 === 0 ? 'calendar' : 'anniversary';
    const body = { customer_id: id, plan_id: plans[index % plans.length], billing_alignment: alignment };
    await create(client, '/api/v1/subscriptions', body, headers);
  }
  return plans;
}

export function sessionHeaders(session: string): Record<string, string> {
  return { cookie: `access_token=${session}` };
}
