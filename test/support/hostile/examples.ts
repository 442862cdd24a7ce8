// A good request for every operation of the OpenAPI document, for the tests that spoil one.

import { randomBytes } from 'node:crypto';
import { usageCharge } from '../billing-fixture.ts';
import type { Operation } from '../openapi-document.ts';
import type { Organization, Weir } from '../harness.ts';

/** The ids of one thing of each kind, by what comes before the id in a path, and what tracking takes. */
export interface Things {
  ids: Record<string, string>;
  meterToken: string;
}

export async function makeThings(weir: Weir, { session, createMeter }: Organization): Promise<Things> {
  const post = async (path: string, body: object): Promise<string> =>
    (await weir.request('POST', `/api/v1/${path}`, { session, body })).body.id;
  const meter = await createMeter('SUM');
  const apiKey = await post('api-keys', { name: 'x', scopes: ['usage.write'] });
  const plans = await post('plans', plan());
  const charges = await post(`plans/${plans}/charges`, usageCharge(meter.id));
  const customers = await post('customers', {});
  // Long ago, so that it has invoices; without a worker they stay drafts.
  const subscribed = { customer_id: customers, plan_id: plans, start_date: '2026-01-31' };
  const subscriptions = await post('subscriptions', subscribed);
  const [invoice] = (await weir.request('GET', `/api/v1/subscriptions/${subscriptions}/invoices`, { session })).body
    .data;
  const lines = await post(`invoices/${invoice.id}/lines`, { description: 'Sorry', amount: '-1' });
  const credits = await post(`customers/${customers}/credits`, credit());
  const invitations = await post('invitations', { email: `${slug()}@example.com`, role: 'viewer' });
  const { user } = (await weir.request('GET', '/api/v1/auth/me', { session })).body;
  const sessions = (await weir.request('GET', '/api/v1/auth/sessions', { session })).body.data[0].id;
  // Only the form of it counts: no test here gets as far as looking for an event.
  const events = '0198c0de-0000-7000-8000-000000000000';
  const features = meter.featureId;
  const catalog = { features, meters: meter.id, plans, charges, customers, events, 'api-keys': apiKey };
  return {
    ids: { ...catalog, users: user.id, sessions, invitations, subscriptions, credits, invoices: invoice.id, lines },
    meterToken: meter.token,
  };
}

const credit = () => ({ amount: '1.50', currency: 'EUR' });
const slug = () => randomBytes(8).toString('hex');
const plan = () => ({ name: 'Plan', lookup_id: slug(), type: 'USAGE', billing_interval: 'month', currency: 'EUR' });
const event = ({ meterToken }: Things) => ({ meter_token: meterToken, customer_external_id: 'acme', quantity: 1 });

/** A good body for every operation that takes one; an operation that is missing here fails a test. */
export const goodBodies: Record<string, (things: Things) => object> = {
  'post /api/v1/auth/signup': () => ({
    email: `${slug()}@example.com`,
    password: 'correct horse battery staple',
    organization_name: 'Acme',
  }),
  'post /api/v1/auth/login': () => ({ email: 'somebody@example.com', password: 'correct horse battery' }),
  'post /api/v1/auth/password': () => ({
    current_password: 'correct horse battery',
    new_password: 'correct horse battery staple',
  }),
  'post /api/v1/auth/invitation': () => ({ token: 'inv_x' }),
  'post /api/v1/auth/invitation/accept': () => ({ token: 'inv_x', password: 'correct horse battery' }),
  'post /api/v1/auth/password-reset': () => ({ token: 'rst_x', new_password: 'correct horse battery' }),
  'post /api/v1/auth/password-reset/request': () => ({ email: 'somebody@example.com' }),
  'post /api/v1/invitations': () => ({ email: `${slug()}@example.com`, role: 'viewer' }),
  'patch /api/v1/users/{id}': () => ({ role: 'admin' }),
  'patch /api/v1/organization': () => ({ name: 'Acme' }),
  'post /api/v1/api-keys': () => ({ name: 'Key', scopes: ['usage.read'] }),
  'post /api/v1/features': () => ({ name: 'Storage', lookup_key: slug(), type: 'meter', aggregation_type: 'SUM' }),
  'patch /api/v1/features/{id}': () => ({ name: 'Storage' }),
  'patch /api/v1/meters/{id}': () => ({ name: 'Storage' }),
  'post /api/v1/plans': plan,
  'patch /api/v1/plans/{id}': () => ({ name: 'Plan' }),
  'post /api/v1/plans/{id}/features': ({ ids }) => ({ feature_id: ids['features'] }),
  'patch /api/v1/plans/{id}/features/{feature_id}': () => ({ is_enabled: false }),
  'post /api/v1/plans/{id}/charges': ({ ids }) =>
    usageCharge(ids['meters'] ?? '', {
      unit_price: '0.05',
      included_units: 10,
      minimum_amount: 0.5,
      maximum_amount: 5,
    }),
  'patch /api/v1/plans/{id}/charges/{charge_id}': () => ({ display_name: 'Usage' }),
  'post /api/v1/charges/evaluate': () => ({
    currency: 'USD',
    charge: { type: 'USAGE', unit_price: '0.05' },
    quantity: '12.5',
    event_count: 3,
    days_in_force: 22,
    days_in_period: 31,
  }),
  'patch /api/v1/billing/settings': () => ({ invoice_grace_hours: 1 }),
  'patch /api/v1/widget/settings': ({ ids }) => ({ meter_ids: [ids['meters']] }),
  'post /api/v1/customers': () => ({ external_id: slug() }),
  'post /api/v1/customers/{id}/credits': credit,
  'patch /api/v1/customers/{id}': () => ({ name: 'Acme' }),
  'post /api/v1/erasures': () => ({ customer_external_id: slug() }),
  'post /api/v1/usage-moves': () => ({ from_external_id: slug(), to_external_id: slug() }),
  'post /api/v1/subscriptions': ({ ids }) => ({
    customer_id: ids['customers'],
    plan_id: ids['plans'],
    external_id: slug(),
    start_date: '2026-01-31',
    billing_interval: 'month',
    billing_alignment: 'calendar',
    trial_end_date: '2026-02-28',
  }),
  'post /api/v1/subscriptions/preview': ({ ids }) => ({
    customer_id: ids['customers'],
    plan_id: ids['plans'],
    start_date: '2026-01-31',
    billing_interval: 'month',
    trial_end_date: '2026-02-28',
  }),
  'patch /api/v1/subscriptions/{id}': () => ({ pending_plan_id: null }),
  'post /api/v1/subscriptions/{id}/cancel': () => ({ reason: 'Moved' }),
  'post /api/v1/subscriptions/{id}/change': ({ ids }) => ({ plan_id: ids['plans'], when: 'period_end' }),
  'post /api/v1/invoices/finalize': ({ ids }) => ({ ids: [ids['invoices']] }),
  'post /api/v1/invoices/{id}/lines': () => ({ description: 'Sorry', amount: '-2.50' }),
  'post /api/v1/invoices/{id}/pay': () => ({ paid_at: '2026-01-31', reference: 'ch_1' }),
  'post /api/v1/invoices/{id}/void': () => ({ note: 'Our mistake' }),
  'post /api/v1/invoices/{id}/uncollectible': () => ({ note: 'Gone' }),
  'post /api/v1/invoices/{id}/recompute': () => ({ from: 'events' }),
  'post /api/v1/sdk/track': event,
  'post /api/v1/sdk/track/batch': (things) => ({ events: [event(things)] }),
  'post /api/v1/widget/token': () => ({ customer_external_id: 'acme' }),
  'post /api/v1/events/{id}/replay': () => ({ metadata: { user_id: 'x' } }),
};

/** The path with the ids of things in it, but for one parameter where another id is given. */
export function pathOf(operation: Operation, { ids }: Things, other: Record<string, string> = {}): string {
  return operation.path.replace(/([^/]+)\/\{(\w+)\}/g, (_, before: string, name: string) => {
    return `${before}/${other[name] ?? ids[before] ?? ''}`;
  });
}
