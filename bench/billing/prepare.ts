import { queueKeys } from '@weir/queue/keys';
import type { BenchDeps, RoundDatabase } from '../environment.ts';
import { startChild } from '../child.ts';
import { fillEvents } from '../fill/fill-events.ts';
import type { Caller } from '../load/plan.ts';
import { weirEnv } from '../patterns.ts';
import { drain } from '../round.ts';
import { signUp, type SignedUp } from '../sign-up.ts';
import { whole } from '../spread.ts';
import { stopBillingClock } from './billing-clock.ts';
import { fillSubscriptions } from './fill-subscriptions.ts';

/** The month that ends, in UTC. Events that are tracked meanwhile have the time of the clock, which is later. */
export const MONTH = { start: '2026-10-01T00:00:00Z', end: '2026-11-01T00:00:00Z', days: 31 } as const;

/** An event a day, more or less, for each customer. */
const EVENTS_EACH = 30;

/** Of the subscription of which a draft is read: usage charges, beside its fixed one. */
const METERS_OF_MANY_CHARGES = 9;

export interface Prepared {
  /** To be copied: nobody else is connected to it. */
  database: RoundDatabase;
  organizationId: string;
  events: number;
  caller: Caller;
  /** A subscription of ten charges. */
  manyChargesId: string;
  /** Of features that customers of the plan may use up to a limit. */
  lookupKey: string;
}

/** What one midnight runs on: its database is a copy of the one that was prepared. */
export interface Given extends Prepared {
  subscriptions: number;
}

/** An organization whose subscribers have a fixed and two usage charges and have used what they pay for, an hour before midnight. */
export async function prepareBilling(subscriptions: number, deps: BenchDeps): Promise<Prepared> {
  const { environment, progress, signal } = deps;
  const database = await environment.clear();
  const { client } = database;
  await stopBillingClock(client, '2026-10-31T23:00:00Z');
  const api = await startChild('apps/api/dist/main.js', { env: weirEnv({ environment, database }), signal });
  try {
    const { caller, post } = await signUp(api.url);
    const { rows } = await client.query<{
      organization_id: string;
      id: string;
      feature_id: string;
      lookup_key: string;
    }>(
      `SELECT m.organization_id, m.id, m.feature_id, f.lookup_key FROM meters m JOIN features f ON f.id = m.feature_id`,
    );
    const [first] = rows;
    if (first === undefined) throw new Error('no meter was made');
    const second = String((await makeMeter(post, 'Tokens'))['meter_id']);
    const plan = await makePlan(post, 'standard', [first.id, second]);
    await post(`/plans/${plan}/features`, {
      feature_id: first.feature_id,
      usage_limit: 1_000_000,
      usage_reset_period: 'month',
    });
    const subscriptionId = await subscribe(post, 'customer-0', plan);
    const manyChargesId = await subscribeToMany(post, caller, { api: api.url, environment, database, signal });

    progress.log(`making ${whole(subscriptions)} subscriptions and their usage …`);
    const organizationId = first.organization_id;
    await fillSubscriptions(client, { organizationId, subscriptionId }, subscriptions);
    const events = subscriptions * EVENTS_EACH;
    await fillEvents(client, {
      events,
      customers: subscriptions,
      meters: 2,
      days: MONTH.days,
      organizationId,
      meterIds: [first.id, second],
      until: new Date(MONTH.end),
      onProgress(what, share) {
        signal.throwIfAborted();
        progress.show(() => `making ${whole(events)} events: ${what}, ${whole(share * 100)} %`);
      },
    });
    return { database, organizationId, events, caller, manyChargesId, lookupKey: first.lookup_key };
  } finally {
    await api.stop();
  }
}

async function makeMeter(post: SignedUp['post'], name: string): Promise<Record<string, unknown>> {
  const lookup_key = name.toLowerCase().replaceAll(' ', '-');
  return await post('/features', { name, lookup_key, type: 'meter', aggregation_type: 'SUM' });
}

async function makePlan(post: SignedUp['post'], lookup_id: string, meterIds: readonly string[]): Promise<string> {
  const plan = await post('/plans', {
    name: 'Plan',
    lookup_id,
    type: 'HYBRID',
    billing_interval: 'month',
    currency: 'USD',
  });
  const charges = `/plans/${String(plan['id'])}/charges`;
  await post(charges, { type: 'FIXED', display_name: 'Base fee', unit_price: '20' });
  for (const [index, meter_id] of meterIds.entries()) {
    const price =
      index === 0
        ? { model: 'per_unit', unit_price: '0.0125' }
        : {
            model: 'graduated',
            tiers: [
              { up_to: 100, unit_price: '0.01' },
              { up_to: null, unit_price: '0.0075' },
            ],
          };
    await post(charges, { type: 'USAGE', display_name: `Usage ${index + 1}`, meter_id, ...price });
  }
  return String(plan['id']);
}

async function subscribe(post: SignedUp['post'], external_id: string, plan_id: string): Promise<string> {
  await post('/customers', { external_id, name: external_id });
  const subscription = await post('/subscriptions', {
    customer_external_id: external_id,
    plan_id,
    start_date: MONTH.start,
    billing_alignment: 'calendar',
  });
  return String(subscription['id']);
}

/** A subscription of ten charges whose meters have usage on each day, which comes through the door. */
async function subscribeToMany(
  post: SignedUp['post'],
  { apiKey }: Caller,
  {
    api,
    environment,
    database,
    signal,
  }: { api: string; database: RoundDatabase } & Pick<BenchDeps, 'environment' | 'signal'>,
): Promise<string> {
  const customer = 'customer-of-many';
  const features: Record<string, unknown>[] = [];
  for (let n = 1; n <= METERS_OF_MANY_CHARGES; n += 1) features.push(await makeMeter(post, `Kind ${n}`));
  const plan = await makePlan(
    post,
    'many',
    features.map(({ meter_id }) => String(meter_id)),
  );
  const id = await subscribe(post, customer, plan);
  const worker = await startChild('apps/worker/dist/main.js', { env: weirEnv({ environment, database }), signal });
  try {
    for (const { meter_token } of features) {
      const events = Array.from({ length: MONTH.days }, (_, day) => ({
        meter_token,
        customer_external_id: customer,
        quantity: day + 1,
        timestamp: new Date(Date.parse(MONTH.start) + day * 86_400_000).toISOString(),
      }));
      const response = await fetch(`${api}/api/v1/sdk/track/batch`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
        body: JSON.stringify({ events }),
      });
      if (response.status !== 201) throw new Error(`a batch was answered ${response.status}: ${await response.text()}`);
    }
    const { staged } = queueKeys(environment.prefix);
    await drain({ pending: () => environment.redis.zcard(staged) });
  } finally {
    await worker.stop();
  }
  return id;
}
