// Very many customers cross thresholds at the same time, while the workers that look are killed one after the other: each threshold that was
// reached in a period is in the feed once, and delivered with one id, and no other is. With all tests it is small; CONTRIBUTING.md has more.

import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random } from '../../chaos/random.ts';
import { makeAlert } from '../support/alerting.ts';
import { usageCharge } from '../support/billing-fixture.ts';
import { until } from '../support/harness.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { proofSize } from '../support/proof-size.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { ownWeir } from '../support/use-weir.ts';

const { size, seed } = proofSize('ALERTS');
const CUSTOMERS = 50 * size;
/** Every so many customers there is one with a subscription. */
const SUBSCRIBED = 5;
const WAVES = 2;

/** Longer where there is more to wait for. */
const PATIENCE_SECONDS = 60 + CUSTOMERS / 5;

/** Usage is counted in tenths here, so that it is known exactly. */
const TENTHS = 10;
const THRESHOLDS = [100, 200, 300];
/** One unit costs 0.50, so a tenth of one costs five cents. */
const CENTS = 5;
const AMOUNTS = [500, 1_005];

interface Month {
  start: string;
  /** When it is used. */
  day: string;
  /** Where billing stands meanwhile. */
  now: string;
}

const JANUARY: Month = { start: '2025-01-01T00:00:00.000Z', day: '2025-01-17', now: '2025-01-31T12:00:00Z' };
const FEBRUARY: Month = { start: '2025-02-01T00:00:00.000Z', day: '2025-02-01', now: '2025-02-01T12:00:00Z' };
const MONTHS = [JANUARY, FEBRUARY];

const networks = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
const weir = ownWeir({
  api: networks,
  worker: { ...networks, WEBHOOK_CONCURRENCY: '8', WEBHOOK_INTERVAL_MS: '100', WEBHOOK_RATE_MAX: '100000' },
  withWorker: false,
});
let billing: Invoicing;
let receiver: Receiver;
beforeAll(async () => {
  billing = await startInvoicing(weir);
  receiver = await openReceiver();
});
afterAll(async () => {
  await receiver.close();
  await billing.close();
});

interface Watched {
  name: string;
  subscription: string | null;
  /** What was used in each month, in tenths. */
  used: Map<Month, number>;
}

/** A threshold that was reached, as the feed tells it or as it has to. */
interface Crossing {
  alert_id: string;
  customer_external_id: string;
  subscription_id: string | null;
  period_start: string;
  threshold: string;
}

const nameOf = (crossing: Crossing): string =>
  [
    crossing.alert_id,
    crossing.customer_external_id,
    crossing.subscription_id,
    crossing.period_start,
    crossing.threshold,
  ].join(' ');

async function subscribeSome(plan: string): Promise<Watched[]> {
  const customers: Watched[] = [];
  for (let index = 0; index < CUSTOMERS; index += 1) {
    const name = `customer ${index}`;
    let subscription: string | null = null;
    if (index % SUBSCRIBED === 0) {
      const { id } = await billing.customer({ external_id: name });
      subscription = (await billing.subscribe(plan, id, { start_date: JANUARY.start })).id;
    }
    customers.push({ name, subscription, used: new Map() });
  }
  return customers;
}

/**
 * Has half of the customers use something, and waits until alerts have looked at it. Now and then it is just as much as a threshold
 * takes, or late for a month that is over. Not all of them each time: nobody would see what was lost of one who is looked at again.
 */
async function useSome(random: Random, meter: PricedMeter, customers: readonly Watched[], now: Month) {
  const using = random.shuffle(customers).filter(() => random.chance(0.5));
  const events = using.map(({ name, used }) => {
    const month = random.chance(0.2) ? JANUARY : now;
    const before = used.get(month) ?? 0;
    const tenths = random.chance(0.3) ? 100 - (before % 100) : random.int(1, 200);
    used.set(month, before + tenths);
    const at = `${month.day}T0${random.int(0, 9)}:00:00Z`;
    return { meter, customer: name, quantity: tenths / TENTHS, at };
  });
  await billing.track(events, PATIENCE_SECONDS);
  await until(
    async () => {
      const { rowCount } = await weir.pool.query('SELECT FROM touched_usage LIMIT 1');
      return rowCount === 0;
    },
    'alerts have looked at all that has changed',
    PATIENCE_SECONDS,
  );
}

async function countCrossings(): Promise<number> {
  const { rows } = await weir.pool.query('SELECT count(*)::int AS count FROM alert_crossings');
  return rows[0].count;
}

/** Two workers that are at work, until both are killed and two others come in their place. */
class Workers {
  #running: Awaited<ReturnType<typeof weir.spawnWorker>>[] = [];
  /** How often both were killed while one of them was about to write down what was crossed. */
  kills = 0;

  async start(): Promise<void> {
    this.#running = await Promise.all([weir.spawnWorker(), weir.spawnWorker()]);
  }

  /** Kills both whenever one has taken what has changed, has found something, and has not yet committed it. */
  async killWhile(work: Promise<void>): Promise<void> {
    let isDone = false;
    const kill = async () => {
      while (!isDone) {
        const client = await weir.pool.connect();
        try {
          await client.query('BEGIN; LOCK TABLE alert_crossings IN SHARE MODE');
          const isHeld = () => this.#isHeld(client);
          await until(async () => isDone || (await isHeld()), 'a worker has found something', PATIENCE_SECONDS);
          if (!(await isHeld())) continue;
          await Promise.all(this.#running.map((worker) => worker.stop('SIGKILL')));
          // What a dead worker has in hand is let go of after a while (packages/db/src/webhooks/turns.ts), and here nobody else is alive.
          await weir.pool.query('UPDATE webhook_endpoints SET held_until = now() WHERE held_by IS NOT NULL');
          this.kills += 1;
        } finally {
          await client.query('ROLLBACK');
          client.release();
        }
        const before = await countCrossings();
        await this.start();
        await until(async () => isDone || (await countCrossings()) > before, 'others go on', PATIENCE_SECONDS);
      }
    };
    await Promise.all([work.finally(() => (isDone = true)), kill()]);
  }

  async #isHeld(client: pg.PoolClient): Promise<boolean> {
    const { rowCount } = await client.query(
      `SELECT FROM pg_locks WHERE relation = 'alert_crossings'::regclass AND NOT granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    return rowCount !== 0;
  }
}

test(
  `thresholds are told and delivered once for each period while workers are killed (seed ${seed})`,
  { timeout: 120_000 + size * 60_000 },
  async () => {
    const random = new Random(seed);
    await billing.moveTo(JANUARY.start);
    const meter = await billing.meter();
    const plan = await billing.plan([usageCharge(meter.id)]);
    const customers = await subscribeSome(plan.id);
    const subscriptions = customers.flatMap(({ subscription }) => subscription ?? []);
    const onUsage = await makeAlert(
      billing,
      { meter_id: meter.id },
      THRESHOLDS.map((tenths) => tenths / TENTHS),
    );
    const onAmount = await makeAlert(
      billing,
      { subscription_amount: true },
      AMOUNTS.map((cents) => String(cents / 100)),
    );
    const endpoint = { url: receiver.url, event_types: ['usage.threshold_reached'] };
    await billing.post('/webhook-endpoints', endpoint, 201);

    const workers = new Workers();
    await workers.start();
    for (const month of MONTHS) {
      await billing.moveTo(month.now, ...subscriptions);
      for (let wave = 0; wave < WAVES; wave += 1) await workers.killWhile(useSome(random, meter, customers, month));
    }

    const expected = customers.flatMap(({ name, subscription, used }) =>
      [...used].flatMap(([{ start: period_start }, tenths]) => {
        const own = { customer_external_id: name, subscription_id: subscription, period_start };
        const reach = (alert_id: string, value: number, thresholds: number[], digits: number) =>
          thresholds
            .filter((threshold) => value >= threshold)
            .map((threshold) => nameOf({ ...own, alert_id, threshold: String(threshold / digits) }));
        const ofUsage = reach(onUsage, tenths, THRESHOLDS, TENTHS);
        return subscription === null ? ofUsage : [...ofUsage, ...reach(onAmount, tenths * CENTS, AMOUNTS, 100)];
      }),
    );
    const { rows: told } = await weir.pool.query<{ sequence: number; data: Crossing }>(
      `SELECT sequence::int AS sequence, data FROM billing_events WHERE organization_id = $1 AND type = 'usage.threshold_reached'`,
      [billing.admin.id],
    );
    expect(told.map(({ data }) => nameOf(data)).toSorted()).toEqual(expected.toSorted());
    expect(await countCrossings()).toBe(expected.length);

    // What is delivered again has the id that it had, by which a receiver knows it.
    const delivered = () => new Map(receiver.received.map((webhook) => [webhook.headers['webhook-id'], webhook]));
    await until(() => delivered().size >= told.length, 'all of them are delivered', PATIENCE_SECONDS);
    const came = [...delivered().values()];
    expect(came.map(({ data }) => nameOf(data as unknown as Crossing)).toSorted()).toEqual(expected.toSorted());
    expect(new Set(came.map(({ sequence }) => sequence))).toEqual(new Set(told.map(({ sequence }) => sequence)));
    expect(workers.kills).toBeGreaterThanOrEqual(MONTHS.length * WAVES);
    if (size > 1)
      console.log({
        customers: CUSTOMERS,
        crossings: told.length,
        kills: workers.kills,
        sent: receiver.received.length,
      });
  },
);
