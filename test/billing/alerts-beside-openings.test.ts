// The first alert of an organization, made or turned on while a period is just being opened: who opens it does not see the alert yet, and
// the alert not the period.

import { performAlerts } from '@weir/db/alerts/perform-alerts';
import { touchOpened } from '@weir/db/alerts/touched-usage';
import type { Database } from '@weir/db/database';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { crossingsOf, makeAlert } from '../support/alerting.ts';
import { usageCharge } from '../support/billing-fixture.ts';
import { until } from '../support/harness.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { countWaiting, untilWaiting } from '../support/until-waiting.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Invoicing;
let meter: PricedMeter;
let plan: string;
let customer: { id: string; external_id: string };

beforeEach(async () => {
  billing = await startInvoicing(weir);
  await billing.moveTo('2025-01-01T00:00:00Z');
  meter = await billing.meter();
  plan = (await billing.plan([usageCharge(meter.id, { unit_price: '0.5' })])).id;
  customer = await billing.customer();
});
afterEach(() => billing.close());

const use = (quantity: number, at: string) => billing.track([{ meter, customer: customer.external_id, quantity, at }]);

/** Looks until nothing is left that can be looked at by now. */
async function lookAtAll(): Promise<void> {
  while ((await performAlerts(billing.database, billing.admin.id, 1_000)).hasLeft);
}

/** Has something opened, and does something else while it is written and not committed: it waits for the feed, which is its last lock. */
async function whileOpening<Opened>(open: () => Promise<Opened>, work: () => Promise<void>): Promise<Opened> {
  const holder = await weir.pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(
      `INSERT INTO billing_feeds AS feeds (organization_id, last_sequence, last_at) VALUES ($1, 0, billing_clock())
       ON CONFLICT (organization_id) DO UPDATE SET last_sequence = feeds.last_sequence`,
      [billing.admin.id],
    );
    const opening = open();
    await untilWaiting(weir);
    await work();
    await holder.query('ROLLBACK');
    return await opening;
  } finally {
    holder.release(true);
  }
}

interface Opening {
  /** What there is before, usage as well; returns what opens the period, which returns its subscription. */
  prepare(): Promise<() => Promise<string>>;
  /** What the alert watches. */
  watched(): object;
  crossed: object;
}

const OPENINGS: Record<string, Opening> = {
  'the first of a subscription that is made': {
    async prepare() {
      await use(250, '2025-01-05T00:00:00Z');
      await billing.moveTo('2025-01-10T00:00:00Z');
      return async () => (await billing.subscribe(plan, customer.id, { start_date: '2025-01-01T00:00:00Z' })).id;
    },
    watched: () => ({ subscription_amount: true }),
    crossed: { period_start: '2025-01-01T00:00:00.000Z', value: '125.00' },
  },
  'the next one of a subscription': {
    async prepare() {
      const { id } = await billing.subscribe(plan, customer.id);
      await use(250, '2025-02-01T00:00:05Z');
      return async () => {
        await billing.moveTo('2025-02-01T00:00:10Z', id);
        return id;
      };
    },
    watched: () => ({ subscription_amount: true }),
    crossed: { period_start: '2025-02-01T00:00:00.000Z', value: '125.00' },
  },
  'a trial': {
    async prepare() {
      // Neither month comes to the threshold.
      await use(60, '2024-12-25T00:00:00Z');
      await use(60, '2025-01-05T00:00:00Z');
      await billing.moveTo('2025-01-10T00:00:00Z');
      const trial = { start_date: '2024-12-20T00:00:00Z', trial_end_date: '2025-01-20T00:00:00Z' };
      return async () => (await billing.subscribe(plan, customer.id, trial)).id;
    },
    watched: () => ({ meter_id: meter.id }),
    crossed: { period_start: '2024-12-20T00:00:00.000Z', value: '120' },
  },
};

test.each(Object.keys(OPENINGS))(
  'a period that is being opened while an alert is made crosses it: %s',
  async (name) => {
    const { prepare, watched, crossed } = OPENINGS[name]!;
    const open = await prepare();
    let alert = '';
    const subscription_id = await whileOpening(open, async () => {
      alert = await makeAlert(billing, watched(), [100]);
      await lookAtAll();
    });
    expect(await crossingsOf(billing, alert)).toMatchObject([{ ...crossed, subscription_id, threshold: '100' }]);
  },
);

test('a period that is being opened while an alert is turned on crosses it', async () => {
  const alert = await makeAlert(billing, { subscription_amount: true }, [100]);
  const turn = async (status: string) =>
    expect((await billing.request('PATCH', `/alerts/${alert}`, { status })).status).toBe(200);
  await turn('DISABLED');
  const open = await OPENINGS['the first of a subscription that is made']!.prepare();
  const subscription_id = await whileOpening(open, async () => {
    await turn('ACTIVE');
    await lookAtAll();
  });
  expect(await crossingsOf(billing, alert)).toMatchObject([{ subscription_id, value: '125.00' }]);
});

/** Notes an opening that stays open until it is told to commit. */
async function note({ kysely }: Database) {
  const transaction = await kysely.startTransaction().execute();
  let isNoted = false;
  const noted = touchOpened(transaction, billing.admin.id, ['somebody']).then(() => (isNoted = true));
  return { noted, isNoted: () => isNoted, commit: () => transaction.commit().execute() };
}

test('a new alert looks also while periods are opened on and on, each beside the one before', async () => {
  const openers = openTestDatabase(weir);
  let ahead = await note(openers);
  await ahead.noted;
  const alert = await makeAlert(billing, { subscription_amount: true }, [100]);
  let outcome: 'looked' | Error | undefined;
  const looking = until(async () => {
    await performAlerts(billing.database, billing.admin.id, 1_000);
    const { rowCount } = await weir.pool.query('SELECT FROM alerts WHERE id = $1 AND looked_after IS NULL', [alert]);
    return rowCount === 1;
  }, 'the alert has looked').then(
    () => (outcome = 'looked'),
    (error: Error) => (outcome = error),
  );
  while (outcome === undefined) {
    const next = await note(openers);
    // The next one goes on, or waits behind the alert.
    await until(async () => next.isNoted() || (await countWaiting(weir)) >= 2, 'the next one is there');
    await ahead.commit();
    await next.noted;
    ahead = next;
  }
  await ahead.commit();
  await openers.close();
  expect(await looking).toBe('looked');
});
