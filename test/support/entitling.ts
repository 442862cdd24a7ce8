// Customers with subscriptions to plans with features, and what they use, for the tests of entitlements.

import { newId } from '@weir/shared/ids';
import { insertSubscriptionRow } from './billing-fixture.ts';
import type { Answer, Organization, Weir } from './harness.ts';

/** A feature of the organization. */
interface EntitledFeature {
  id: string;
  key: string;
  /** Empty where it has no meter. */
  token: string;
}

/** A customer with a record. */
interface EntitledCustomer {
  id: string;
  externalId: string;
  /** From 15 January 2023 on, and each newer than those before; `fields` are columns that differ. */
  subscribe(planId: string, fields?: object): Promise<string>;
  /** Tracks a use, and waits until it is recorded; `fields` are those of the event that differ. */
  use(feature: EntitledFeature, quantity: number, fields?: object): Promise<void>;
  ask(feature?: EntitledFeature | string, quantity?: string): Promise<Answer>;
}

/** What tests of entitlements make and ask, as the admin of an organization and with its key. */
export interface Entitling {
  send(method: string, path: string, body?: unknown): Promise<Answer>;
  newPlan(fields?: object): Promise<string>;
  /** With an aggregation it is metered; else a switch, or of the type given. */
  newFeature(aggregation?: string, type?: string): Promise<EntitledFeature>;
  include(planId: string, feature: EntitledFeature, terms?: object): Promise<void>;
  newCustomer(): Promise<EntitledCustomer>;
  ask(externalId: string, feature?: EntitledFeature | string, quantity?: string): Promise<Answer>;
  /** A customer subscribed to a plan with one metered feature. */
  metered(
    terms: object,
    aggregation?: string,
    fields?: object,
  ): Promise<{ plan: string; feature: EntitledFeature; customer: EntitledCustomer }>;
}

export function entitling(weir: Weir, admin: Organization, apiKey: string): Entitling {
  let made = 0;
  const name = (what: string): string => `${what}-${(made += 1)}`;
  const create = (path: string, body: object): Promise<{ id: string } & Record<string, string>> =>
    admin.call('POST', path, body, 201);
  const newPlan = async (difference: object = {}): Promise<string> => {
    const fields = { name: 'Plan', type: 'HYBRID', billing_interval: 'month', currency: 'USD', ...difference };
    return (await create('/plans', { ...fields, lookup_id: name('plan') })).id;
  };
  const newFeature = async (
    aggregation_type?: string,
    type = aggregation_type === undefined ? 'switch' : 'meter',
  ): Promise<EntitledFeature> => {
    const key = name('feature');
    const meter = aggregation_type !== undefined && { aggregation_type };
    const feature = await create('/features', { name: 'Feature', lookup_key: key, type, ...meter });
    return { id: feature.id, key, token: feature['meter_token'] ?? '' };
  };
  const include = async (planId: string, feature: EntitledFeature, terms: object = {}): Promise<void> => {
    await create(`/plans/${planId}/features`, { feature_id: feature.id, ...terms });
  };
  const ask = (externalId: string, feature?: EntitledFeature | string, quantity?: string): Promise<Answer> => {
    const query = new URLSearchParams({ customer_external_id: externalId });
    if (feature !== undefined) query.set('feature', typeof feature === 'string' ? feature : feature.key);
    if (quantity !== undefined) query.set('quantity', quantity);
    return weir.request('GET', `/api/v1/entitlements?${String(query)}`, { apiKey });
  };
  const newCustomer = async (): Promise<EntitledCustomer> => {
    const externalId = name('customer');
    const { id } = await create('/customers', { external_id: externalId });
    return {
      id,
      externalId,
      subscribe: (planId, fields) =>
        insertSubscriptionRow(weir.pool, admin.id, {
          planId,
          customer: { id, external_id: externalId },
          start_at: '2023-01-15T10:00:00Z',
          anchor: '2023-01-15',
          id: newId(),
          ...fields,
        }),
      async use({ token }, quantity, fields) {
        const body = { meter_token: token, customer_external_id: externalId, quantity, ...fields };
        const { status } = await weir.request('POST', '/api/v1/sdk/track', { apiKey, body });
        if (status !== 201) throw new Error(`tracking answered ${status}`);
        await weir.drained();
      },
      ask: (feature, quantity) => ask(externalId, feature, quantity),
    };
  };
  return {
    send: admin.ask,
    newPlan,
    newFeature,
    include,
    newCustomer,
    ask,
    async metered(terms, aggregation = 'SUM', fields = {}) {
      const [plan, feature, customer] = [await newPlan(), await newFeature(aggregation), await newCustomer()];
      await include(plan, feature, terms);
      await customer.subscribe(plan, fields);
      return { plan, feature, customer };
    },
  };
}
