// What cannot be taken from under those who are billed: plans, customers, and the meters of a customer.

import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  fixedCharge,
  insertSubscriptionRow,
  makeCustomer,
  makePricedPlan,
  usageCharge,
} from '../support/billing-fixture.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let admin: Organization;

beforeAll(async () => {
  admin = await signUp(weir);
});

const send = (method: string, path: string, body?: unknown): Promise<Answer> =>
  weir.request(method, `/api/v1${path}`, { session: admin.session, ...(body !== undefined && { body }) });
const subscribe = (planId: string, customer: { id: string; external_id: string }, fields: object = {}) =>
  insertSubscriptionRow(weir.pool, admin.id, { planId, customer, ...fields });
const newMeter = async () => (await admin.createMeter('SUM')).id;
const cancel = (id: string) => weir.pool.query(`UPDATE subscriptions SET status = 'CANCELED' WHERE id = $1`, [id]);

/** Who has a meter reserved, by customer. */
async function billersOf(meterId: string): Promise<Record<string, string>> {
  const { rows } = await weir.pool.query<{ customer_external_id: string; subscription_id: string }>(
    'SELECT customer_external_id, subscription_id FROM billed_meters WHERE meter_id = $1',
    [meterId],
  );
  return Object.fromEntries(rows.map((row) => [row.customer_external_id, row.subscription_id]));
}

/** Waits until some request waits for a lock of this database. */
const somebodyWaits = () =>
  until(async () => {
    const { rows } = await weir.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  }, 'a request waits for a lock');

/** Does something in a transaction that stays open while a request is sent, which waits for it. */
async function whileOpen(
  statements: (query: (sql: string, values?: unknown[]) => Promise<unknown>) => Promise<unknown>,
  request: () => Promise<Answer>,
): Promise<Answer> {
  const client = await weir.pool.connect();
  try {
    await client.query('BEGIN');
    await statements((sql, values) => client.query(sql, values));
    const answer = request();
    await somebodyWaits();
    await client.query('COMMIT');
    return await answer;
  } finally {
    // Does nothing after the commit; without one the next test would wait for these locks.
    await client.query('ROLLBACK');
    client.release();
  }
}

const inTwoDays = () => new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);

const fixed = { type: 'USAGE', billing_interval: 'year', currency: 'EUR' };

describe('the type, billing_interval and currency of a plan', () => {
  const expectFixed = async (id: string) => {
    const { body: before } = await send('GET', `/plans/${id}`);
    for (const [field, value] of Object.entries(fixed)) {
      const answer = await send('PATCH', `/plans/${id}`, { name: 'Changed', [field]: value });
      expectProblem(answer, 409, 'plan_in_use');
      expect(answer.body.detail).toContain(field);
    }
    expect((await send('GET', `/plans/${id}`)).body).toEqual(before);
    const { type, billing_interval, currency } = before;
    const same = { type, billing_interval, currency, name: 'Renamed', trial_days: 3, is_active: false };
    expect(await send('PATCH', `/plans/${id}`, same)).toMatchObject({ status: 200, body: same });
  };

  test('can change while it has neither charge nor subscription', async () => {
    const { id } = await makePricedPlan(weir, admin);
    expect(await send('PATCH', `/plans/${id}`, fixed)).toMatchObject({ status: 200, body: fixed });
  });

  test('are fixed once it has a charge, and everything else can change', async () => {
    await expectFixed((await makePricedPlan(weir, admin, [fixedCharge(1)])).id);
  });

  test('stay fixed when the charge has ended', async () => {
    const { id, charges } = await makePricedPlan(weir, admin, [fixedCharge(1)]);
    await send('PATCH', `/plans/${id}/charges/${charges[0]?.id}`, { status: 'INACTIVE' });
    await expectFixed(id);
  });

  test('are fixed once it has a subscription, and stay so when that was canceled', async () => {
    const { id } = await makePricedPlan(weir, admin);
    const subscription = await subscribe(id, await makeCustomer(weir, admin));
    await expectFixed(id);
    await cancel(subscription);
    await expectFixed(id);
  });

  test('are fixed once a subscription goes over to it', async () => {
    const [one, other] = [await makePricedPlan(weir, admin), await makePricedPlan(weir, admin)];
    await subscribe(one.id, await makeCustomer(weir, admin), { pending_plan_id: other.id });
    await expectFixed(other.id);
  });

  test('are not fixed by a charge that was taken back before it began', async () => {
    const { id } = await makePricedPlan(weir, admin);
    const charge = { type: 'FIXED', display_name: 'Fee', unit_price: '1', effective_from: inTwoDays() };
    const { body: announced } = await send('POST', `/plans/${id}/charges`, charge);
    const change = () => send('PATCH', `/plans/${id}`, { currency: 'EUR' });
    expectProblem(await change(), 409, 'plan_in_use');
    await send('PATCH', `/plans/${id}/charges/${announced.id}`, { status: 'INACTIVE' });
    expect(await change()).toMatchObject({ status: 200, body: { currency: 'EUR' } });
  });

  test('are fixed by a charge that is added at the same moment', async () => {
    const { id } = await makePricedPlan(weir, admin);
    const answer = await whileOpen(
      async (query) => {
        await query('SELECT FROM plans WHERE id = $1 FOR UPDATE', [id]);
        await query(
          `INSERT INTO charges (organization_id, id, plan_id, display_name, type, terms) VALUES ($1, $2, $3, 'Fee', 'FIXED', '{}')`,
          [admin.id, randomUUID(), id],
        );
      },
      () => send('PATCH', `/plans/${id}`, { currency: 'EUR' }),
    );
    expectProblem(answer, 409, 'plan_in_use');
  });

  test('are fixed by a subscription that is made at the same moment', async () => {
    const { id } = await makePricedPlan(weir, admin);
    const customer = await makeCustomer(weir, admin);
    const subscription = await subscribe((await makePricedPlan(weir, admin)).id, customer);
    const answer = await whileOpen(
      async (query) => {
        // As whoever subscribes or changes to it does.
        await query('SELECT FROM plans WHERE id = $1 FOR SHARE', [id]);
        await query('UPDATE subscriptions SET plan_id = $1 WHERE id = $2', [id, subscription]);
      },
      () => send('PATCH', `/plans/${id}`, { currency: 'EUR' }),
    );
    expectProblem(answer, 409, 'plan_in_use');
  });
});

describe('a plan is deleted', () => {
  test('with its charges, while nobody subscribed to it', async () => {
    const meter = await newMeter();
    const { id } = await makePricedPlan(weir, admin, [fixedCharge(1), usageCharge(meter)]);
    expect((await send('DELETE', `/plans/${id}`)).status).toBe(204);
    expect((await weir.pool.query('SELECT FROM charges WHERE plan_id = $1', [id])).rowCount).toBe(0);
  });

  test('no more with a subscription, a canceled one, or one that goes over to it', async () => {
    const [one, other] = [await makePricedPlan(weir, admin, [fixedCharge(1)]), await makePricedPlan(weir, admin)];
    const subscription = await subscribe(one.id, await makeCustomer(weir, admin), { pending_plan_id: other.id });
    for (const { id } of [one, other]) expectProblem(await send('DELETE', `/plans/${id}`), 409, 'plan_in_use');
    await cancel(subscription);
    for (const { id } of [one, other]) expectProblem(await send('DELETE', `/plans/${id}`), 409, 'plan_in_use');
    expect((await send('GET', `/plans/${one.id}`)).body.charges).toHaveLength(1);
  });

  test('no more when one was billed by it that is on another plan by now', async () => {
    const { id, charges } = await makePricedPlan(weir, admin, [fixedCharge(1)]);
    const customer = await makeCustomer(weir, admin);
    const subscription = await subscribe((await makePricedPlan(weir, admin)).id, customer);
    const times = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
    await weir.pool.query(
      `INSERT INTO subscription_periods (organization_id, subscription_id, cycle, plan_id, period_start, period_end)
       VALUES ($1, $2, 0, $3, $4, $5)`,
      [admin.id, subscription, id, ...times],
    );
    await weir.pool.query(
      `INSERT INTO dues (organization_id, subscription_id, cycle, charge_id, display_name, terms, customer_external_id,
         period_start, period_end) VALUES ($1, $2, 0, $3, 'Fee', '{}', $4, $5, $6)`,
      [admin.id, subscription, charges[0]?.id, customer.external_id, ...times],
    );
    expectProblem(await send('DELETE', `/plans/${id}`), 409, 'plan_in_use');
  });
});

describe('a feature', () => {
  const newFeature = async () => {
    const body = { name: 'Calls', lookup_key: `calls-${randomUUID()}`, type: 'meter', aggregation_type: 'SUM' };
    const { body: made } = await send('POST', '/features', body);
    return { path: `/features/${made.id}`, meter: String(made.meter_id) };
  };
  const statusOf = async (meter: string) => (await send('GET', `/meters/${meter}`)).body.status;
  const expectKept = async ({ path, meter }: Awaited<ReturnType<typeof newFeature>>) => {
    expectProblem(await send('DELETE', path), 409, 'feature_in_use');
    expect([(await send('GET', path)).status, await statusOf(meter)]).toEqual([200, 'ACTIVE']);
  };

  test('whose meter has a price is not deleted, and is when the charge has ended', async () => {
    const feature = await newFeature();
    const { id, charges } = await makePricedPlan(weir, admin, [usageCharge(feature.meter)]);
    await expectKept(feature);
    // One that is to end is in force until then.
    const later = usageCharge(feature.meter, { unit_price: 1, replaces: charges[0]?.id, effective_from: inTwoDays() });
    const { body } = await send('POST', `/plans/${id}/charges`, later);
    await expectKept(feature);
    for (const charge of [body.id, charges[0]?.id])
      expect((await send('PATCH', `/plans/${id}/charges/${charge}`, { status: 'INACTIVE' })).status).toBe(200);
    expect((await send('DELETE', feature.path)).status).toBe(204);
  });

  test('whose meter a subscription bills is not deleted before it has ended with it', async () => {
    const feature = await newFeature();
    const { id } = await makePricedPlan(weir, admin);
    await subscribe(id, await makeCustomer(weir, admin));
    const { body } = await send('POST', `/plans/${id}/charges`, usageCharge(feature.meter));
    await send('PATCH', `/plans/${id}/charges/${body.id}`, { status: 'INACTIVE' });
    await expectKept(feature);
    await weir.pool.query('UPDATE billed_meters SET ended_at = billing_now() WHERE meter_id = $1', [feature.meter]);
    expect((await send('DELETE', feature.path)).status).toBe(204);
  });

  test('is not deleted when a price for its meter is added at the same moment', async () => {
    const feature = await newFeature();
    const { id } = await makePricedPlan(weir, admin);
    const deleted = await whileOpen(
      async (query) => {
        await query('SELECT FROM meters WHERE id = $1 FOR SHARE', [feature.meter]);
        await query(
          `INSERT INTO charges (organization_id, id, plan_id, display_name, type, meter_id, terms)
           VALUES ($1, $2, $3, 'Usage', 'USAGE', $4, '{}')`,
          [admin.id, randomUUID(), id, feature.meter],
        );
      },
      () => send('DELETE', feature.path),
    );
    expectProblem(deleted, 409, 'feature_in_use');
    expect(await statusOf(feature.meter)).toBe('ACTIVE');
  });

  test('that is deleted at the same moment gets no price: its meter is archived', async () => {
    const feature = await newFeature();
    const { id } = await makePricedPlan(weir, admin);
    const added = await whileOpen(
      (query) => query(`UPDATE meters SET status = 'ARCHIVED' WHERE id = $1`, [feature.meter]),
      () => send('POST', `/plans/${id}/charges`, usageCharge(feature.meter)),
    );
    expectProblem(added, 422, 'meter_archived');
    expect(added.body.errors).toEqual([{ path: 'meter_id', message: 'is the id of an archived meter' }]);
  });
});

describe('a customer', () => {
  test('with a subscription is not deleted, also when that was canceled', async () => {
    const customer = await makeCustomer(weir, admin);
    const subscription = await subscribe((await makePricedPlan(weir, admin)).id, customer);
    expectProblem(await send('DELETE', `/customers/${customer.id}`), 409, 'customer_in_use');
    await cancel(subscription);
    expectProblem(await send('DELETE', `/customers/${customer.id}`), 409, 'customer_in_use');
    expect((await send('GET', `/customers/${customer.id}`)).status).toBe(200);
  });

  test('or a plan of a subscription is not deleted, without waiting for who bills that just then', async () => {
    const customer = await makeCustomer(weir, admin);
    const plan = await makePricedPlan(weir, admin, [fixedCharge(1)]);
    const subscription = await subscribe(plan.id, customer);
    const client = await weir.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM subscriptions WHERE id = $1 FOR UPDATE', [subscription]);
      expectProblem(await send('DELETE', `/customers/${customer.id}`), 409, 'customer_in_use');
      expectProblem(await send('DELETE', `/plans/${plan.id}`), 409, 'plan_in_use');
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  test('with an invoice or a credit is not deleted', async () => {
    const [invoiced, credited] = [await makeCustomer(weir, admin), await makeCustomer(weir, admin)];
    const subscription = await subscribe((await makePricedPlan(weir, admin)).id, await makeCustomer(weir, admin));
    await weir.pool.query(
      `INSERT INTO invoices (organization_id, id, kind, status, subscription_id, customer_id, cycle, currency, period_start,
         period_end, finalizes_at) VALUES ($1, $2, 'SUBSCRIPTION', 'DRAFT', $3, $4, 0, 'USD', now(), now(), now())`,
      [admin.id, randomUUID(), subscription, invoiced.id],
    );
    await weir.pool.query(
      `INSERT INTO credit_grants (organization_id, id, customer_id, currency, amount, remaining)
       VALUES ($1, $2, $3, 'USD', 5, 5)`,
      [admin.id, randomUUID(), credited.id],
    );
    for (const { id } of [invoiced, credited])
      expectProblem(await send('DELETE', `/customers/${id}`), 409, 'customer_in_use');
  });

  test('keeps its external_id while a subscription of it goes on, and everything else can change', async () => {
    const customer = await makeCustomer(weir, admin);
    const subscription = await subscribe((await makePricedPlan(weir, admin)).id, customer);
    const path = `/customers/${customer.id}`;
    const other = randomUUID();
    expectProblem(await send('PATCH', path, { external_id: other, name: 'Other' }), 409, 'customer_in_use');
    const changes = { external_id: customer.external_id, name: 'Same', time_zone: 'Asia/Tokyo' };
    expect(await send('PATCH', path, changes)).toMatchObject({ status: 200, body: changes });
    await cancel(subscription);
    expect(await send('PATCH', path, { external_id: other })).toMatchObject({
      status: 200,
      body: { external_id: other },
    });
  });

  test('may take another external_id from the end of its subscription on, before that is written down', async () => {
    const customer = await makeCustomer(weir, admin);
    const subscription = await subscribe((await makePricedPlan(weir, admin)).id, customer, {
      ended_at: '2100-01-01T00:00:00Z',
    });
    const rename = () => send('PATCH', `/customers/${customer.id}`, { external_id: randomUUID() });
    expectProblem(await rename(), 409, 'customer_in_use');
    await weir.pool.query('UPDATE subscriptions SET ended_at = billing_now() WHERE id = $1', [subscription]);
    expect((await rename()).status).toBe(200);
  });

  test('keeps its external_id also for a subscription that is made at the same moment', async () => {
    const [customer, other] = [await makeCustomer(weir, admin), await makeCustomer(weir, admin)];
    const subscription = await subscribe((await makePricedPlan(weir, admin)).id, other);
    const answer = await whileOpen(
      (query) => query('UPDATE subscriptions SET customer_id = $1 WHERE id = $2', [customer.id, subscription]),
      () => send('PATCH', `/customers/${customer.id}`, { external_id: randomUUID() }),
    );
    expectProblem(answer, 409, 'customer_in_use');
  });
});

describe('a charge for usage that is added to a plan', () => {
  test('reserves its meter for every subscription of the plan that goes on, and for those that go over to it', async () => {
    const { id } = await makePricedPlan(weir, admin);
    const other = await makePricedPlan(weir, admin);
    const customers = await Promise.all(Array.from({ length: 5 }, () => makeCustomer(weir, admin)));
    const [here, trial, coming, canceled, elsewhere] = customers.map(({ external_id }) => external_id);
    const subscriptions = [
      await subscribe(id, customers[0]!),
      await subscribe(id, customers[1]!, { status: 'TRIAL' }),
      await subscribe(other.id, customers[2]!, { pending_plan_id: id }),
      await subscribe(id, customers[3]!, { status: 'CANCELED' }),
      await subscribe(other.id, customers[4]!),
    ];
    const meter = await newMeter();
    expect((await send('POST', `/plans/${id}/charges`, usageCharge(meter))).status).toBe(201);
    const billers = await billersOf(meter);
    expect(billers).toEqual({ [here!]: subscriptions[0], [trial!]: subscriptions[1], [coming!]: subscriptions[2] });
    expect(Object.keys(billers)).not.toContain(canceled);
    expect(Object.keys(billers)).not.toContain(elsewhere);
  });

  test('is refused where a customer of the plan has the meter billed elsewhere, and nothing is kept', async () => {
    const meter = await newMeter();
    const [one, other] = [await makePricedPlan(weir, admin), await makePricedPlan(weir, admin)];
    const [both, alone] = [await makeCustomer(weir, admin), await makeCustomer(weir, admin)];
    await subscribe(one.id, both);
    await send('POST', `/plans/${one.id}/charges`, usageCharge(meter));
    const before = await billersOf(meter);
    await subscribe(other.id, alone);
    await subscribe(other.id, both);
    expectProblem(await send('POST', `/plans/${other.id}/charges`, usageCharge(meter)), 409, 'meter_already_billed');
    expect(await billersOf(meter)).toEqual(before);
    expect((await send('GET', `/plans/${other.id}`)).body.charges).toEqual([]);
    // Another meter is nobody else's.
    expect((await send('POST', `/plans/${other.id}/charges`, usageCharge(await newMeter()))).status).toBe(201);
  });

  test('takes the meter over from a subscription that has ended with it before the next period', async () => {
    const meter = await newMeter();
    const [one, other] = [await makePricedPlan(weir, admin), await makePricedPlan(weir, admin)];
    const customer = await makeCustomer(weir, admin);
    await subscribe(one.id, customer);
    await send('POST', `/plans/${one.id}/charges`, usageCharge(meter));
    const next = await subscribe(other.id, customer, { current_period_end: '2026-02-01T00:00:00Z' });
    const endAt = (at: string) =>
      weir.pool.query('UPDATE billed_meters SET ended_at = $1 WHERE meter_id = $2', [at, meter]);
    await endAt('2026-02-01T00:00:00.000001Z');
    expectProblem(await send('POST', `/plans/${other.id}/charges`, usageCharge(meter)), 409, 'meter_already_billed');
    await endAt('2026-02-01T00:00:00Z');
    expect((await send('POST', `/plans/${other.id}/charges`, usageCharge(meter))).status).toBe(201);
    expect(await billersOf(meter)).toEqual({ [customer.external_id]: next });
  });

  test('is refused where a customer has two subscriptions of the plan: one of them can have the meter', async () => {
    const { id } = await makePricedPlan(weir, admin);
    const customer = await makeCustomer(weir, admin);
    await subscribe(id, customer);
    await subscribe(id, customer);
    expectProblem(
      await send('POST', `/plans/${id}/charges`, usageCharge(await newMeter())),
      409,
      'meter_already_billed',
    );
    expect((await send('POST', `/plans/${id}/charges`, fixedCharge(1))).status).toBe(201);
  });

  test('reserves it also for a subscription that is made at the same moment', async () => {
    const { id } = await makePricedPlan(weir, admin);
    const customer = await makeCustomer(weir, admin);
    const subscription = await subscribe((await makePricedPlan(weir, admin)).id, customer);
    const meter = await newMeter();
    const answer = await whileOpen(
      async (query) => {
        // As whoever subscribes or changes to it does.
        await query('SELECT FROM plans WHERE id = $1 FOR SHARE', [id]);
        await query('UPDATE subscriptions SET plan_id = $1 WHERE id = $2', [id, subscription]);
      },
      () => send('POST', `/plans/${id}/charges`, usageCharge(meter)),
    );
    expect(answer.status).toBe(201);
    expect(await billersOf(meter)).toEqual({ [customer.external_id]: subscription });
  });

  test('goes to one of two plans that price the meter for the same customer at the same moment', async () => {
    const meter = await newMeter();
    const plans = [await makePricedPlan(weir, admin), await makePricedPlan(weir, admin)];
    const customer = await makeCustomer(weir, admin);
    for (const { id } of plans) await subscribe(id, customer);
    const answers = await Promise.all(plans.map(({ id }) => send('POST', `/plans/${id}/charges`, usageCharge(meter))));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
    expect(Object.keys(await billersOf(meter))).toEqual([customer.external_id]);
  });
});
