// What chance may leave out of a short life, told to Weir and to the model in the same order: an invoice that is left open, one that
// nobody expects to be paid, usage that comes late, and an amount that does not come back, since it was waived before.

import type { Invoicing } from '../invoicing.ts';
import type { Ledger, ModelCustomer, ModelInvoice, ModelPlan, ModelSubscription } from './ledger.ts';
import type { ModelCharge } from './prices.ts';
import { Wallet } from './wallet.ts';

const DAY = 86_400_000;

/** A customer who is subscribed from forty days ago on, and leaves at once. */
export async function endWithTheRest(billing: Invoicing, ledger: Ledger, now: number): Promise<void> {
  const start = now - 40 * DAY;
  const meter = await billing.meter('SUM');
  const { id: customerId, external_id: externalId } = await billing.customer({ time_zone: 'UTC' });
  const customer: ModelCustomer = { id: customerId, externalId, zone: 'UTC', wallet: new Wallet(), uses: new Map() };
  const plan = await makePlan(billing, meter.id, now);
  const use = async (at: number, quantity: number): Promise<void> => {
    ledger.use(customer, meter.id, { at, quantity: String(quantity), user: '' });
    await billing.track([{ meter, customer: externalId, quantity, at: new Date(at).toISOString() }]);
  };
  const finalize = async (): Promise<ModelInvoice> => {
    const invoice = ledger.firstDraft(subscription);
    const [draft] = await billing.drafts(subscription.id);
    if (invoice === undefined || draft === undefined) throw new Error(`${subscription.id} has no draft`);
    const { id } = await billing.post(`/invoices/${draft.id}/finalize`);
    ledger.finalize(invoice, now);
    return Object.assign(invoice, { id });
  };

  await use(start + DAY, 2);
  const { id } = await billing.subscribe(plan.id, customerId, { start_date: new Date(start).toISOString() });
  const schedule = { zone: 'UTC', interval: plan.interval, alignment: 'anniversary', start } as const;
  const subscription: ModelSubscription = ledger.subscribe({ id, customer, plan, schedule, createdAt: now });
  const [first, second] = [await finalize(), await finalize()];
  await billing.post(`/invoices/${first.id}/uncollectible`);
  ledger.giveUp(first);
  await billing.post(`/invoices/${second.id}/void`);
  ledger.void(second, false);
  await use(start + 2 * DAY, 3);
  // What was billed in advance for the days that are left would come back, and was waived.
  await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
  ledger.cancelNow(subscription, now);
  await finalize();
}

async function makePlan(billing: Invoicing, meter_id: string, from: number): Promise<ModelPlan> {
  const bodies: ModelCharge[] = [
    { type: 'USAGE', display_name: 'Usage', meter_id, model: 'per_unit', unit_price: '1.25' },
    { type: 'FIXED', display_name: 'Fixed', timing: 'in_advance', unit_price: '31' },
  ];
  const { id, charges } = await billing.plan(bodies);
  const prices = bodies.map((body, at) => ({ id: charges[at] ?? '', body, from, to: Infinity, replaces: null }));
  return { id, digits: 2, currency: 'USD', interval: 'month', prices };
}
