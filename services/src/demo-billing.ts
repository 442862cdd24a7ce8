// The billing of the demo: a plan with a fixed price and a price for usage, and a customer on it.

import { expectStatus, request } from './demo-request.ts';

interface Charge {
  display_name: string;
  meter_id?: string;
}

/** The headers of a signed-in admin. */
export interface Session extends Record<string, string> {
  cookie: string;
}

/** The customer of the lines to paste, as services name it. */
export const DEMO_CUSTOMER = 'acme';

const plan = { name: 'Demo', lookup_id: 'demo', type: 'HYBRID', billing_interval: 'month', currency: 'USD' };

const baseFee = { type: 'FIXED', display_name: 'Base fee', unit_price: '49' };

const usagePrice = {
  type: 'USAGE',
  display_name: 'Tokens',
  model: 'graduated',
  tiers: [
    { up_to: '1000', unit_price: '0.02' },
    { up_to: null, unit_price: '0.015' },
  ],
};

/**
 * Subscribes the demo's customer to a plan that bills this meter, and returns the id of the subscription. What is there
 * already is used. Throws when the API refuses what it should not.
 */
export async function makeSubscription(baseUrl: string, session: Session, meterId: string): Promise<string> {
  const planId = await makePlan(baseUrl, session);
  await makeCharges(baseUrl, session, planId, [baseFee, { ...usagePrice, meter_id: meterId }]);
  // 409: a run that was cut short has made it.
  const customer = await request(baseUrl, 'POST', '/customers', session, { external_id: DEMO_CUSTOMER, name: 'Acme' });
  if (customer.status !== 409) expectStatus(customer, 201);
  const subscription = await request(baseUrl, 'POST', '/subscriptions', session, {
    customer_external_id: DEMO_CUSTOMER,
    plan_id: planId,
    external_id: 'demo',
  });
  const { id, code } = subscription.body as { id: string; code?: string };
  if (subscription.status !== 409 || code !== 'external_id_taken') expectStatus(subscription, 201);
  return id;
}

async function makePlan(baseUrl: string, session: Session): Promise<string> {
  interface Plan {
    id: string;
    lookup_id: string;
  }
  const list = await request(baseUrl, 'GET', '/plans?page_size=100', session);
  const { data } = expectStatus(list, 200) as { data: Plan[] };
  const found = data.find(({ lookup_id }) => lookup_id === plan.lookup_id);
  if (found !== undefined) return found.id;
  const made = expectStatus(await request(baseUrl, 'POST', '/plans', session, plan), 201) as Plan;
  return made.id;
}

/** Before anybody subscribes, so that the first period has all of them. */
async function makeCharges(
  baseUrl: string,
  session: Session,
  planId: string,
  wanted: readonly Charge[],
): Promise<void> {
  const path = `/plans/${planId}`;
  const { charges } = expectStatus(await request(baseUrl, 'GET', path, session), 200) as { charges: Charge[] };
  for (const charge of wanted) {
    if (charges.some(({ display_name }) => display_name === charge.display_name)) continue;
    expectStatus(await request(baseUrl, 'POST', `${path}/charges`, session, charge), 201);
  }
}
