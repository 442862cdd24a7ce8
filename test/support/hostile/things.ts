// What the paths of operations name, for the tests that spoil a request: one thing of each kind.

import { randomBytes } from 'node:crypto';
import { usageCharge } from '../billing-fixture.ts';
import type { Operation } from '../openapi-document.ts';
import type { Organization, Weir } from '../harness.ts';
import { makeServiceAccount } from '../service-accounts.ts';

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
  const service = await makeServiceAccount(weir, { session }, 'viewer');
  const plan = { name: 'Plan', lookup_id: slug(), type: 'USAGE', billing_interval: 'month', currency: 'EUR' };
  const plans = await post('plans', plan);
  const charges = await post(`plans/${plans}/charges`, usageCharge(meter.id));
  const customers = await post('customers', {});
  // Long ago, so that it has invoices; without a worker they stay drafts.
  const subscribed = { customer_id: customers, plan_id: plans, start_date: '2026-01-31' };
  const subscriptions = await post('subscriptions', subscribed);
  const [invoice] = (await weir.request('GET', `/api/v1/subscriptions/${subscriptions}/invoices`, { session })).body
    .data;
  const lines = await post(`invoices/${invoice.id}/lines`, { description: 'Sorry', amount: '-1' });
  const credits = await post(`customers/${customers}/credits`, { amount: '1.50', currency: 'EUR' });
  const invitations = await post('invitations', { email: `${slug()}@example.com`, role: 'viewer' });
  const { user } = (await weir.request('GET', '/api/v1/auth/me', { session })).body;
  const sessions = (await weir.request('GET', '/api/v1/auth/sessions', { session })).body.data[0].id;
  // Only the form of it counts: no test here gets as far as looking for one of these.
  const events = '0198c0de-0000-7000-8000-000000000000';
  const formal = { alerts: events, payments: events, 'webhook-endpoints': events, deliveries: events };
  const features = meter.featureId;
  const catalog = { features, meters: meter.id, plans, charges, customers, events, 'api-keys': apiKey };
  const accounts = { 'service-accounts': service.id, tokens: service.tokenId };
  return {
    ids: {
      ...catalog,
      ...accounts,
      users: user.id,
      sessions,
      invitations,
      subscriptions,
      credits,
      invoices: invoice.id,
      lines,
      ...formal,
    },
    meterToken: meter.token,
  };
}

const slug = () => randomBytes(8).toString('hex');
/** The path with the ids of things in it, but for one parameter where another id is given. */
export function pathOf(operation: Operation, { ids }: Things, other: Record<string, string> = {}): string {
  return operation.path.replace(/([^/]+)\/\{(\w+)\}/g, (_, before: string, name: string) => {
    return `${before}/${other[name] ?? ids[before] ?? ''}`;
  });
}

/** The body that the document shows for an operation, as JSON, about things that are there. */
export function goodBodyOf({ example }: Operation, { ids, meterToken }: Things): string {
  const there: Record<string, unknown> = {
    meter_token: meterToken,
    feature_id: ids['features'],
    meter_id: ids['meters'],
    meter_ids: [ids['meters']],
    plan_id: ids['plans'],
    customer_id: ids['customers'],
    replaces: ids['charges'],
    ids: [ids['invoices']],
  };
  return JSON.stringify(example ?? null, (name, value: unknown) => there[name] ?? value);
}
