// Alerts: which thresholds usage and amounts reach, each told once for each customer and period, whatever comes twice.

import { findAlertWork, TouchedPlaces } from '@weir/db/alerts/find-alert-work';
import { performAlerts } from '@weir/db/alerts/perform-alerts';
import { learnForRecording } from '@weir/db/known-for-recording';
import { recordEvents, recordOnce, type RecordableEvent } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { AGGREGATION_TYPES, type AggregationType } from '@weir/shared/meter';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { crossingsOf, makeAlert, settleAlerts, thresholdsCrossed } from '../support/alerting.ts';
import { expectDocumentedFeed } from '../support/documented-feed.ts';
import { performAllMoves } from '../support/erasing.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until } from '../support/harness.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Invoicing;
beforeAll(async () => {
  billing = await startInvoicing(weir);
  await billing.moveTo('2025-01-10T12:00:00Z');
});
afterAll(() => billing.close());

const AT = '2025-01-10T11:00:00Z';
const JANUARY = { period_start: '2025-01-01T00:00:00.000Z', period_end: '2025-02-01T00:00:00.000Z' };

let customers = 0;
const someone = (): string => `someone-${(customers += 1)}`;

interface Reached {
  thresholds: string[];
  steps: [quantity: number, user: string, reached?: string][];
}

/** Quantities one after the other, and for each what the threshold is that it reaches. */
const REACHED: Record<AggregationType, Reached> = {
  COUNT: {
    thresholds: ['2', '3'],
    steps: [
      [9, 'a'],
      [9, 'a', '2'],
      [9, 'a', '3'],
    ],
  },
  SUM: {
    thresholds: ['10', '10.000000000000000001', '25'],
    steps: [
      [9.5, 'a'],
      [0.5, 'a', '10'],
      [0.25, 'a', '10.000000000000000001'],
    ],
  },
  MAX: {
    thresholds: ['5', '10'],
    steps: [
      [4.5, 'a'],
      [5, 'a', '5'],
      [4, 'a'],
    ],
  },
  MIN: {
    thresholds: ['5', '10'],
    steps: [
      [4.5, 'a'],
      [5, 'a'],
      [4, 'a'],
    ],
  },
  AVG: {
    thresholds: ['10.333333333333333333', '10.333333333333333334'],
    steps: [
      [10, 'a'],
      [10, 'a'],
      [11, 'a', '10.333333333333333333'],
    ],
  },
  LAST: {
    thresholds: ['5', '10'],
    steps: [
      [4.5, 'a'],
      [7, 'a', '5'],
      [2, 'a'],
    ],
  },
  UNIQUE_COUNT: {
    thresholds: ['2', '3'],
    steps: [
      [1, 'a'],
      [1, 'b', '2'],
      [1, 'a'],
    ],
  },
};

test('usage of each aggregation crosses a threshold when it reaches it, and not before', async () => {
  const customer = someone();
  const watching = await Promise.all(
    AGGREGATION_TYPES.map(async (aggregation) => {
      const { thresholds, steps } = REACHED[aggregation];
      const meter = await billing.meter(aggregation);
      return { aggregation, meter, alert: await makeAlert(billing, { meter_id: meter.id }, thresholds), steps };
    }),
  );
  const reached = watching.map((): string[] => []);
  for (const step of [0, 1, 2]) {
    await billing.track(
      watching.map(({ meter, steps }) => {
        const [quantity, user_id] = steps[step] ?? [0, ''];
        return { meter, customer, quantity, at: `2025-01-10T11:0${step}:00Z`, metadata: { user_id } };
      }),
    );
    await settleAlerts(billing);
    for (const [index, { aggregation, alert, steps }] of watching.entries()) {
      const now = steps[step]?.[2];
      if (now !== undefined) reached[index]?.push(now);
      expect(await thresholdsCrossed(billing, alert), aggregation).toEqual(reached[index]);
    }
  }
});

test('it is told once, with what was reached, and nothing of another customer or meter', async () => {
  const meter = await billing.meter();
  const { id: customer_id, external_id: customer } = await billing.customer({ name: 'Acme' });
  const [all, one] = [
    await makeAlert(billing, { meter_id: meter.id }, [100, 200.5]),
    await makeAlert(billing, { meter_id: meter.id, customer_id }, [150]),
  ];
  const other = someone();
  await billing.track([
    { meter, customer, quantity: 200.5, at: AT },
    { meter, customer: other, quantity: 180, at: AT },
    { meter: await billing.meter(), customer, quantity: 1_000, at: AT },
  ]);
  const own = { id: expect.any(String), subscription_id: null, currency: null, ...JANUARY };
  const ofCustomer = { ...own, customer_id, customer_external_id: customer, value: '200.5' };
  const byThreshold = (list: { threshold: string; customer_external_id: string }[]) =>
    list.toSorted((a, b) =>
      `${a.customer_external_id} ${a.threshold}`.localeCompare(`${b.customer_external_id} ${b.threshold}`),
    );
  expect(byThreshold(await crossingsOf(billing, all))).toEqual(
    byThreshold([
      { ...ofCustomer, threshold: '100' },
      { ...ofCustomer, threshold: '200.5' },
      { ...own, customer_id: null, customer_external_id: other, value: '180', threshold: '100' } as never,
    ]),
  );
  expect(await crossingsOf(billing, one)).toEqual([{ ...ofCustomer, threshold: '150' }]);
  const { data } = await billing.get('/billing-events?limit=1000');
  expect(data.findLast(({ type }: { type: string }) => type === 'usage.threshold_reached')).toMatchObject({
    actor: 'weir',
    data: { meter_id: meter.id, name: 'Alert' },
  });
});

function eventsOf(meterId: string, customer: string, quantities: number[]): RecordableEvent[] {
  return quantities.map((quantity) => ({
    event: {
      id: newId(),
      organization_id: billing.admin.id,
      meter_id: meterId,
      customer_external_id: customer,
      quantity: String(quantity),
      timestamp: '2025-01-10T11:00:00.000000Z',
    },
    countsUniqueValues: false,
  }));
}

test('a batch that is delivered again, and workers that look at once, cross nothing twice', async () => {
  const meter = await billing.meter();
  const alert = await makeAlert(billing, { meter_id: meter.id }, [1, 2, 3]);
  const databases = [openTestDatabase(weir), openTestDatabase(weir), openTestDatabase(weir)];
  const events = Array.from({ length: 30 }, () => eventsOf(meter.id, someone(), [1, 1, 1])).flat();
  const { pool } = billing.database;
  await Promise.all([recordEvents(pool, events), recordEvents(pool, events.toReversed())]);
  const look = () => Promise.all(databases.map((database) => performAlerts(database, billing.admin.id, 1_000)));
  await look();
  await recordEvents(pool, events);
  // As if all of it had changed again.
  await pool.query(
    `INSERT INTO touched_usage (organization_id, customer_external_id, meter_id)
     SELECT organization_id, customer_external_id, meter_id FROM events WHERE meter_id = $1`,
    [meter.id],
  );
  await look();
  expect(await thresholdsCrossed(billing, alert)).toHaveLength(90);
  const { rows } = await pool.query(
    `SELECT count(*)::int AS crossings, count(DISTINCT (customer_external_id, threshold))::int AS pairs
     FROM alert_crossings WHERE alert_id = $1`,
    [alert],
  );
  expect(rows).toEqual([{ crossings: 90, pairs: 90 }]);
  await Promise.all(databases.map((database) => database.close()));
});

test('what falls by a correction and rises again is not crossed twice; what rises by one is', async () => {
  const meter = await billing.meter();
  const customer = someone();
  const alert = await makeAlert(billing, { meter_id: meter.id }, [10, 50]);
  await billing.track([{ meter, customer, quantity: 12, at: AT }]);
  expect(await thresholdsCrossed(billing, alert)).toEqual(['10']);
  const { rows } = await weir.pool.query('SELECT id FROM events WHERE meter_id = $1', [meter.id]);
  await billing.post(`/events/${rows[0].id}/void`, { reason: 'a test' }, 201);
  await billing.track([{ meter, customer, quantity: 13, at: AT }]);
  expect(await thresholdsCrossed(billing, alert)).toEqual(['10']);
  const { rows: counted } = await weir.pool.query('SELECT id FROM events WHERE meter_id = $1 AND quantity = 13', [
    meter.id,
  ]);
  await billing.post(`/events/${counted[0].id}/amend`, { reason: 'a test', quantity: 50 }, 201);
  expect(await thresholdsCrossed(billing, alert)).toEqual(['10', '50']);
  // A last quantity rises when the one after it is void.
  const last = await billing.meter('LAST');
  const ofLast = await makeAlert(billing, { meter_id: last.id }, [10]);
  await billing.track([{ meter: last, customer, quantity: 3, at: '2025-01-10T11:30:00Z' }]);
  await settleAlerts(billing);
  await billing.track([{ meter: last, customer, quantity: 30, at: AT }]);
  expect(await thresholdsCrossed(billing, ofLast)).toEqual([]);
  const { rows: latest } = await weir.pool.query('SELECT id FROM events WHERE meter_id = $1 AND quantity = 3', [
    last.id,
  ]);
  await billing.post(`/events/${latest[0].id}/void`, { reason: 'a test' }, 201);
  expect(await thresholdsCrossed(billing, ofLast)).toEqual(['10']);
});

test('what was noted while the last alert went is taken as well, and does not wait for the next alert', async () => {
  const organization = await signUp(weir);
  await weir.pool.query(
    `INSERT INTO touched_usage (organization_id, customer_external_id, touched_at) SELECT $1, 'left', '2024-01-10' FROM generate_series(1, 60)`,
    [organization.id],
  );
  await until(async () => {
    for (const id of await findAlertWork(billing.database, new TouchedPlaces()))
      await performAlerts(billing.database, id, 1_000);
    const { rowCount } = await weir.pool.query('SELECT FROM touched_usage WHERE organization_id = $1', [
      organization.id,
    ]);
    return rowCount === 0;
  }, 'nothing waits');
  expect(await findAlertWork(billing.database, new TouchedPlaces())).not.toContain(organization.id);
});

test('usage that is moved to another customer crosses what it brings that one to', async () => {
  const meter = await billing.meter();
  const [from, to] = [someone(), someone()];
  const alert = await makeAlert(billing, { meter_id: meter.id }, [10]);
  await billing.track([
    { meter, customer: from, quantity: 6, at: AT },
    { meter, customer: to, quantity: 6, at: AT },
  ]);
  expect(await thresholdsCrossed(billing, alert)).toEqual([]);
  await billing.post('/usage-moves', { from_external_id: from, to_external_id: to }, 202);
  await performAllMoves(billing.database);
  expect(await crossingsOf(billing, alert)).toMatchObject([{ customer_external_id: to, value: '12' }]);
});

test('an alert over one customer looks at the usage of the external id that the customer is given', async () => {
  const meter = await billing.meter();
  const { id: customer_id } = await billing.customer();
  const alert = await makeAlert(billing, { meter_id: meter.id, customer_id }, [10]);
  const other = someone();
  await billing.track([{ meter, customer: other, quantity: 15, at: AT }]);
  expect(await thresholdsCrossed(billing, alert)).toEqual([]);
  expect((await billing.request('PATCH', `/customers/${customer_id}`, { external_id: other })).status).toBe(200);
  expect(await crossingsOf(billing, alert)).toMatchObject([{ customer_id, customer_external_id: other, value: '15' }]);
});

test('whoever gives customers with alerts another external id on and on waits: it stops recording', async () => {
  const { url: baseUrl } = await weir.startApi({ READ_BUCKETS_PER_CALLER: '100', READS_IN_FLIGHT_PER_CALLER: '1' });
  const ask = (method: string, path: string, body?: object) =>
    weir.request(method, `/api/v1${path}`, { session: billing.admin.session, baseUrl, ...(body && { body }) });
  const { id: customer_id } = await billing.customer();
  expect((await ask('PATCH', `/customers/${customer_id}`, { external_id: someone() })).status).toBe(200);
  await makeAlert(billing, { meter_id: (await billing.meter()).id, customer_id }, [10]);
  expect((await ask('PATCH', `/customers/${customer_id}`, { external_id: someone() })).status).toBe(200);
  expectProblem(await ask('GET', `/customers/${customer_id}`), 429, 'rate_limited');
});

describe('a new alert', () => {
  test('looks at what is there, and so does one whose thresholds are changed or that is turned on', async () => {
    const meter = await billing.meter();
    const many = Array.from({ length: 1_100 }, someone);
    await recordEvents(
      billing.database.pool,
      many.flatMap((customer) => eventsOf(meter.id, customer, [5])),
    );
    const alert = await makeAlert(billing, { meter_id: meter.id }, [5]);
    const count = async () => {
      await settleAlerts(billing);
      return (await billing.get(`/alerts/${alert}/crossings`)).meta.total;
    };
    expect(await count()).toBe(1_100);
    expect((await billing.request('PATCH', `/alerts/${alert}`, { thresholds: [4, 5, 6] })).body.thresholds).toEqual([
      '4',
      '5',
      '6',
    ]);
    expect(await count()).toBe(2_200);
    expect((await billing.request('PATCH', `/alerts/${alert}`, { status: 'DISABLED' })).status).toBe(200);
    await billing.track([{ meter, customer: many[0] ?? '', quantity: 1, at: AT }]);
    expect(await count()).toBe(2_200);
    await billing.request('PATCH', `/alerts/${alert}`, { status: 'ACTIVE' });
    expect(await count()).toBe(2_201);
  });

  test('misses nothing that is being recorded while it is made', async () => {
    const meter = await billing.meter();
    const customer = someone();
    const client = await billing.database.pool.connect();
    await client.query('BEGIN');
    await recordOnce(await learnForRecording(billing.database.pool), client, eventsOf(meter.id, customer, [7]));
    let isMade = false;
    const making = makeAlert(billing, { meter_id: meter.id }, [7]).finally(() => (isMade = true));
    await until(async () => {
      const { rowCount } = await weir.pool.query(
        `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return rowCount === 1;
    }, 'the alert waits for what is recorded');
    expect(isMade).toBe(false);
    await client.query('COMMIT');
    client.release();
    expect(await thresholdsCrossed(billing, await making)).toEqual(['7']);
  });

  test('is deleted with what it crossed, and with the customer that it watches alone', async () => {
    const meter = await billing.meter();
    const { id: customer_id, external_id: customer } = await billing.customer();
    const alerts = [
      await makeAlert(billing, { meter_id: meter.id }, [1]),
      await makeAlert(billing, { meter_id: meter.id, customer_id }, [1]),
    ];
    await billing.track([{ meter, customer, quantity: 1, at: AT }]);
    for (const alert of alerts) expect(await thresholdsCrossed(billing, alert)).toEqual(['1']);
    expect((await billing.request('DELETE', `/alerts/${alerts[0]}`)).status).toBe(204);
    expect((await billing.request('DELETE', `/customers/${customer_id}`)).status).toBe(204);
    for (const alert of alerts) {
      for (const path of [`/alerts/${alert}`, `/alerts/${alert}/crossings`]) await billing.get(path, 404);
      expect((await billing.request('PATCH', `/alerts/${alert}`, { status: 'ACTIVE' })).status).toBe(404);
      expect((await billing.request('DELETE', `/alerts/${alert}`)).status).toBe(404);
    }
    await billing.track([{ meter, customer, quantity: 1, at: AT }]);
    await settleAlerts(billing);
    const { rows } = await weir.pool.query(
      `SELECT FROM alerts WHERE id = ANY ($1) UNION ALL SELECT FROM alert_crossings WHERE alert_id = ANY ($1)`,
      [alerts],
    );
    expect(rows).toEqual([]);
  });

  test('is refused where it makes no sense, and beyond what an organization may have', async () => {
    const { id: meter_id } = await billing.meter();
    const refusals: [body: object, path: string][] = [
      [{ meter_id, thresholds: [2, 2] }, 'thresholds'],
      [{ meter_id, thresholds: ['2', '1.9'] }, 'thresholds'],
      [{ meter_id, thresholds: [] }, 'thresholds'],
      [{ meter_id, thresholds: [0] }, 'thresholds[0]'],
      [{ meter_id, thresholds: Array.from({ length: 21 }, (_, index) => index + 1) }, 'thresholds'],
      [{ thresholds: [1] }, 'meter_id'],
      [{ meter_id, subscription_amount: true, thresholds: [1] }, 'meter_id'],
    ];
    for (const [body, path] of refusals) {
      const answer = await billing.request('POST', '/alerts', { name: 'Alert', ...body });
      expect({ status: answer.status, paths: answer.body.errors?.map((each: { path: string }) => each.path) }).toEqual({
        status: 422,
        paths: [path],
      });
    }
    await billing.post('/alerts', { name: 'Alert', meter_id: newId(), thresholds: [1] }, 404);
    await billing.post('/alerts', { name: 'Alert', meter_id, customer_id: newId(), thresholds: [1] }, 404);
    const full = await signUp(weir);
    const { id } = await full.createMeter('SUM');
    await weir.pool.query(
      `INSERT INTO alerts (organization_id, id, name, meter_id, thresholds)
       SELECT $1, gen_random_uuid(), 'Alert', $2, '{1}' FROM generate_series(1, 100)`,
      [full.id, id],
    );
    const body = { name: 'Alert', meter_id: id, thresholds: [1] };
    expect(await weir.request('POST', '/api/v1/alerts', { session: full.session, body })).toMatchObject({
      status: 422,
    });
  });
});

test('without an alert nothing is noted, and where all are off nothing more', async () => {
  const admin = await signUp(weir);
  const apiKey = await admin.createKey();
  const meter = await admin.createMeter('SUM');
  const track = async () => {
    const body = { meter_token: meter.token, customer_external_id: 'acme', quantity: 1 };
    expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, body })).status).toBe(201);
    await weir.drained();
    const { rows } = await weir.pool.query('SELECT meter_id FROM touched_usage WHERE organization_id = $1', [admin.id]);
    return rows.length;
  };
  expect(await track()).toBe(0);
  const { rows } = await weir.pool.query(
    `INSERT INTO alerts (organization_id, id, name, meter_id, thresholds, status)
     VALUES ($1, gen_random_uuid(), 'Alert', $2, '{1}', 'DISABLED') RETURNING id`,
    [admin.id, meter.id],
  );
  expect(await track()).toBe(0);
  expect(await findAlertWork(billing.database, new TouchedPlaces())).not.toContain(admin.id);
  expect((await weir.request('GET', '/api/v1/alerts', { session: admin.session })).body.data).toMatchObject([
    { id: rows[0].id, status: 'DISABLED', thresholds: ['1'], subscription_amount: false },
  ]);
});

test('what the feed told of it is what the document says', () => expectDocumentedFeed(weir, 'alerts'));
