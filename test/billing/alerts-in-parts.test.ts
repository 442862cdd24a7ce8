// One customer of very many subscriptions: alerts look at it part by part, so that no transaction of a worker writes down too much, and
// what is left is taken by whoever comes next.

import { performAlerts } from '@weir/db/alerts/perform-alerts';
import { recordEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { crossingsOf, makeAlert, settleAlerts } from '../support/alerting.ts';
import { fixedCharge, usageCharge } from '../support/billing-fixture.ts';
import { copyRows } from '../support/copy-rows.ts';
import { until } from '../support/harness.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { untilWaiting } from '../support/until-waiting.ts';
import { ownWeir } from '../support/use-weir.ts';

const SUBSCRIPTIONS = 8;
const ALERTS = 100;
const THRESHOLDS = 20;
const ALL = SUBSCRIPTIONS * ALERTS * THRESHOLDS;
/** So many crossings fit into one transaction. */
const REACHED_MAX = 10_000;

const weir = ownWeir({ withWorker: false });
let own: Invoicing;
let customer: string;
const meters: string[] = [];
beforeAll(async () => {
  own = await startInvoicing(weir);
  const made = await own.customer();
  customer = made.external_id;
  await own.moveTo('2025-01-10T12:00:00Z');
  for (let index = 0; index < SUBSCRIPTIONS; index += 1) {
    const meter = await own.meter();
    const plan = await own.plan([usageCharge(meter.id, { unit_price: '1' })]);
    await own.subscribe(plan.id, made.id, { start_date: '2025-01-01T00:00:00Z' });
    meters.push(meter.id);
  }
});
afterAll(() => own.close());

/** Alerts on amounts, whose thresholds one unit of usage reaches. */
beforeEach(async () => {
  await weir.pool.query('TRUNCATE alerts, alert_crossings, touched_usage');
  await weir.pool.query(`DELETE FROM billing_events WHERE type = 'usage.threshold_reached'`);
  await weir.pool.query(
    `INSERT INTO alerts (organization_id, id, name, thresholds, looked_after, told_from)
     SELECT $1, gen_random_uuid(), 'Alert', ARRAY(SELECT n / 100.0 FROM generate_series(1, $3::int) AS n), NULL, '2025-01-01'
     FROM generate_series(1, $2::int)`,
    [own.admin.id, ALERTS, THRESHOLDS],
  );
});

const useAll = () =>
  recordEvents(
    own.database.pool,
    meters.map((meter_id) => ({
      event: {
        id: newId(),
        organization_id: own.admin.id,
        meter_id,
        customer_external_id: customer,
        quantity: '1',
        timestamp: '2025-01-10T11:00:00.000000Z',
      },
      countsUniqueValues: false,
    })),
  );

/** Notes that usage of the customer has changed, as recording does. */
const touch = () =>
  weir.pool.query('INSERT INTO touched_usage (organization_id, customer_external_id) VALUES ($1, $2)', [
    own.admin.id,
    customer,
  ]);

/** One part: no time for more. */
const performPart = () => performAlerts(own.database, own.admin.id, 0);

async function readCrossed() {
  const { rows } = await weir.pool.query<{ crossings: number; most: number; told: number; waits: number }>(
    `SELECT (SELECT count(*)::int FROM alert_crossings) AS crossings,
       (SELECT max(count)::int FROM (SELECT count(*) FROM alert_crossings GROUP BY xmin::text) AS by_transaction) AS most,
       (SELECT count(DISTINCT data ->> 'id')::int FROM billing_events WHERE type = 'usage.threshold_reached') AS told,
       (SELECT count(*)::int FROM touched_usage) AS waits`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('nothing was counted');
  return row;
}

test('a customer whose subscriptions reach very many thresholds crosses them in bounded parts, each once', async () => {
  await useAll();
  await touch();
  const first = await performPart();
  expect(first).toMatchObject({ hasLeft: true });
  expect(first.crossings).toBeGreaterThan(0);
  expect(await readCrossed()).toEqual({
    crossings: first.crossings,
    most: first.crossings,
    told: first.crossings,
    waits: 1,
  });
  // What changes meanwhile does not have it begin anew, but looked at again once it is through.
  let crossings = first.crossings;
  let parts = 1;
  for (; crossings < ALL && parts < 20; parts += 1) {
    await touch();
    crossings += (await performPart()).crossings;
  }
  const crossed = await readCrossed();
  expect(crossed).toMatchObject({ crossings: ALL, told: ALL });
  expect(crossed.most).toBeLessThanOrEqual(REACHED_MAX);
  expect(parts).toBe(Math.ceil(ALL / REACHED_MAX));
  expect(crossed.waits).toBeGreaterThan(0);
  await settleAlerts(own);
  expect(await readCrossed()).toEqual({ ...crossed, waits: 0 });
});

test('a worker that is cut off in a part leaves it to the next one, and nothing is told twice or lost', async () => {
  await useAll();
  await touch();
  const { crossings } = await performPart();
  const holding = await weir.pool.connect();
  await holding.query('BEGIN');
  await holding.query('SELECT FROM billing_feeds WHERE organization_id = $1 FOR UPDATE', [own.admin.id]);
  const dying = performPart().catch((error: unknown) => String(error));
  await until(async () => {
    const { rowCount } = await weir.pool.query(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%billing_feeds%'`,
    );
    return rowCount === 1;
  }, 'the part is cut off when all of it but the feed is written');
  expect(await dying).toContain('canceling statement');
  await holding.query('ROLLBACK');
  holding.release();
  expect(await readCrossed()).toMatchObject({ crossings, told: crossings, waits: 1 });
  await settleAlerts(own);
  expect(await readCrossed()).toMatchObject({ crossings: ALL, told: ALL, waits: 0 });
});

test('thousands of subscriptions that cost nothing yet are passed over, and the last one is told of', async () => {
  const free = await own.plan([fixedCharge(1)]);
  const { id, external_id } = await own.customer();
  const { id: pattern } = await own.subscribe(free.id, id, { start_date: '2025-01-01T00:00:00Z' });
  await weir.pool.query(
    `WITH made AS (
       ${copyRows('subscriptions', `'id', '00000000-0000-7000-8000-' || lpad(n::text, 12, '0')`, { times: 4_500, where: 't.id = $1' })}
       RETURNING id
     )
     INSERT INTO subscription_periods SELECT copy.*
     FROM subscription_periods AS pattern, made, jsonb_populate_record(pattern, jsonb_build_object('subscription_id', made.id)) AS copy
     WHERE pattern.subscription_id = $1`,
    [pattern],
  );
  const meter = await own.meter();
  const plan = await own.plan([usageCharge(meter.id, { unit_price: '1' })]);
  const { id: last } = await own.subscribe(plan.id, id, { start_date: '2025-01-01T00:00:00Z' });
  await weir.pool.query('TRUNCATE touched_usage');
  await recordEvents(own.database.pool, [
    {
      event: {
        id: newId(),
        organization_id: own.admin.id,
        meter_id: meter.id,
        customer_external_id: external_id,
        quantity: '1',
        timestamp: '2025-01-10T11:00:00.000000Z',
      },
      countsUniqueValues: false,
    },
  ]);
  await weir.pool.query('INSERT INTO touched_usage (organization_id, customer_external_id) VALUES ($1, $2)', [
    own.admin.id,
    external_id,
  ]);
  const crossings: number[] = [];
  for (let part = 0; part < 3; part += 1) crossings.push((await performPart()).crossings);
  expect(crossings).toEqual([0, 0, ALERTS * THRESHOLDS]);
  expect((await readCrossed()).waits).toBe(0);
  const { rows } = await weir.pool.query('SELECT DISTINCT subscription_id FROM alert_crossings');
  expect(rows).toEqual([{ subscription_id: last }]);
});

/** An alert, the only one, and usage that reaches its threshold and that nobody has looked at. Returns its id. */
async function useWatched(): Promise<string> {
  await weir.pool.query('DELETE FROM alerts');
  const meter = await own.meter();
  const alert = await makeAlert(own, { meter_id: meter.id }, [1]);
  await settleAlerts(own);
  const event = {
    id: newId(),
    organization_id: own.admin.id,
    meter_id: meter.id,
    customer_external_id: 'without a record',
    quantity: '1',
    timestamp: '2025-01-10T11:00:00.000000Z',
  };
  await recordEvents(own.database.pool, [{ event, countsUniqueValues: false }]);
  return alert;
}

test.each([
  ['turned off', `status = 'DISABLED'`],
  ['changed', `thresholds = '{2}'`],
])('an alert that is %s while it is held against usage is not crossed as it was', async (_, change) => {
  const alert = await useWatched();
  const holder = await weir.pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(`UPDATE alerts SET ${change} WHERE id = $1`, [alert]);
    const looked = performPart();
    await untilWaiting(weir);
    await holder.query('COMMIT');
    expect(await looked).toMatchObject({ crossings: 0 });
  } finally {
    holder.release();
  }
  expect(await readCrossed()).toMatchObject({ crossings: 0, waits: 0 });
});

test('usage of a month is told of however long after its end it is looked at first', async () => {
  const alert = await useWatched();
  await own.moveTo('2025-02-05T12:00:00Z');
  const month = { period_start: '2025-01-01T00:00:00.000Z', period_end: '2025-02-01T00:00:00.000Z' };
  expect(await crossingsOf(own, alert)).toMatchObject([{ ...month, threshold: '1' }]);
});
