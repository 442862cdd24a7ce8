// Plans with prices, for the tests of billing.

import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Answer, Organization, Weir } from './harness.ts';

/** A charge as the API shows it, as far as tests look into it. */
interface PricedCharge {
  id: string;
  plan_id: string;
  type: 'FIXED' | 'USAGE';
  meter_id: string | null;
  status: 'ACTIVE' | 'INACTIVE';
}

export interface PricedPlan {
  id: string;
  /** In the order in which they were given. */
  charges: PricedCharge[];
}

/** A fixed charge to add to a plan; `terms` are its fields that differ. */
export const fixedCharge = (unitPrice: number | string, terms: object = {}) => ({
  type: 'FIXED',
  display_name: 'Base fee',
  unit_price: unitPrice,
  ...terms,
});

/** A charge for a meter's usage to add to a plan, by default of a price for each unit. */
export const usageCharge = (meterId: string, terms: object = { unit_price: '0.5' }) => ({
  type: 'USAGE',
  display_name: 'Usage',
  meter_id: meterId,
  ...terms,
});

/** Makes a plan with these charges, by default a monthly one of both types in USD; `fields` are what differs. */
export async function makePricedPlan(
  weir: Weir,
  { session }: Pick<Organization, 'session'>,
  charges: object[] = [],
  fields: object = {},
): Promise<PricedPlan> {
  const post = async (path: string, body: object) =>
    created(await weir.request('POST', `/api/v1${path}`, { session, body }));
  const { id } = await post('/plans', {
    name: 'Plan',
    lookup_id: `plan-${randomUUID()}`,
    type: 'HYBRID',
    billing_interval: 'month',
    currency: 'USD',
    ...fields,
  });
  const added: PricedCharge[] = [];
  for (const charge of charges) added.push(await post(`/plans/${id}/charges`, charge));
  return { id, charges: added };
}

/** Makes a customer record. */
export async function makeCustomer(
  weir: Weir,
  { session }: Pick<Organization, 'session'>,
  fields: object = {},
): Promise<{ id: string; external_id: string }> {
  return created(await weir.request('POST', '/api/v1/customers', { session, body: fields }));
}

function created({ status, body }: Answer) {
  if (status !== 201) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

/**
 * Writes the row of a subscription as it stands, past all that making one checks and does: for what others refuse while there is
 * one. It has no periods, and bills nothing.
 */
export async function insertSubscriptionRow(
  pool: pg.Pool,
  organizationId: string,
  {
    planId,
    customer,
    ...fields
  }: { planId: string; customer: { id: string; external_id: string } } & Record<string, unknown>,
): Promise<string> {
  const row: Record<string, unknown> = {
    organization_id: organizationId,
    id: randomUUID(),
    customer_id: customer.id,
    customer_external_id: customer.external_id,
    plan_id: planId,
    status: 'ACTIVE',
    time_zone: 'UTC',
    currency: 'USD',
    billing_interval: 'month',
    billing_alignment: 'anniversary',
    start_at: '2026-01-01T00:00:00Z',
    anchor: '2026-01-01',
    anchor_at: '2026-01-01T00:00:00Z',
    current_period_start: '2026-01-01T00:00:00Z',
    current_period_end: '2026-02-01T00:00:00Z',
    ...fields,
  };
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  await pool.query(`INSERT INTO subscriptions (${columns.join()}) VALUES (${places.join()})`, Object.values(row));
  return String(row['id']);
}
