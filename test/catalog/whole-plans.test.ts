// A plan in one step: with what it costs and includes when it is made, and all that changes of these later. All of it or nothing.

import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { chargeOfKind, kindNames, type ChargeKind } from '../support/charge-kinds.ts';
import {
  fixedCharge,
  insertSubscriptionRow,
  makeCustomer,
  makePricedPlan,
  usageCharge,
} from '../support/billing-fixture.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Answer, type Organization } from '../support/harness.ts';
import { untilWaiting } from '../support/until-waiting.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let organization: Organization;
let slugs = 0;

beforeAll(async () => {
  organization = await signUp(weir);
});

const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  weir.request(method, `/api/v1${path}`, {
    session: organization.session,
    headers,
    ...(body !== undefined && { body }),
  });
const planBody = (parts: object) => {
  const fields = { name: 'Pro', type: 'HYBRID', billing_interval: 'month', currency: 'USD' };
  return { ...fields, lookup_id: `whole-${(slugs += 1)}`, ...parts };
};
const newMeter = () => organization.createMeter('SUM');
const read = async (id: string) => (await send('GET', `/plans/${id}`)).body;
const entriesOf = async (action: string): Promise<number> =>
  (await send('GET', `/audit-log?action=${action}&limit=100`)).body.data.length;

describe('a plan is made', () => {
  test('with charges of every model and its features, to the last digit, and is one entry of the audit log', async () => {
    const before = await entriesOf('plan.create');
    const of = async (kind: ChargeKind) => chargeOfKind(kind, (await newMeter()).id, { display_name: kind });
    const charges = await Promise.all(kindNames.map(of));
    const [metered, exact] = [await newMeter(), await newMeter()];
    const body = JSON.stringify(
      planBody({
        charges: [...charges, usageCharge(exact.id, { unit_price: 'PRICE' })],
        features: [{ feature_id: metered.featureId }, { feature_id: exact.featureId, usage_limit: 'LIMIT' }],
      }),
    );
    const raw = body.replace('"PRICE"', '0.123456789012345678').replace('"LIMIT"', '0.1234567890123456789');
    const made = await weir.request('POST', '/api/v1/plans', { session: organization.session, raw });
    expect(made.status).toBe(201);
    const plan = await read(made.body.id);
    expect(plan.charges.map(({ display_name }: { display_name: string }) => display_name)).toEqual([
      ...kindNames,
      'Usage',
    ]);
    expect(plan.charges.at(-1).unit_price).toBe('0.123456789012345678');
    const limits = plan.features.map((each: Record<string, unknown>) => [each['feature_id'], each['usage_limit']]);
    expect(new Map(limits)).toEqual(
      new Map([
        [metered.featureId, null],
        [exact.featureId, '0.1234567890123456789'],
      ]),
    );
    expect(await entriesOf('plan.create')).toBe(before + 1);
  });

  test('wholly or not at all, and what is wrong is named by its place', async () => {
    const { id: meter, featureId } = await newMeter();
    const nobodys = '01890000-0000-7000-8000-000000000001';
    const wrong: [parts: object, status: number, path: string][] = [
      [{ charges: [fixedCharge(1), usageCharge(meter, { unit_price: -1 })] }, 422, 'charges[1].unit_price'],
      [{ charges: [usageCharge(meter), usageCharge(meter)] }, 422, 'charges[1].meter_id'],
      [{ charges: [usageCharge(nobodys)] }, 404, 'charges[0]'],
      [{ charges: [fixedCharge(1), usageCharge(meter)], type: 'FIXED' }, 422, 'charges[1].type'],
      [{ charges: [{ ...fixedCharge(1), effective_from: '2020-01-01' }] }, 422, 'charges[0].effective_from'],
      [{ charges: [{ ...fixedCharge(1), replaces: nobodys }] }, 422, 'charges[0].replaces'],
      [{ charges: Array.from({ length: 101 }, () => fixedCharge(1)) }, 422, 'charges'],
      [{ features: [{ feature_id: featureId }, { feature_id: nobodys }] }, 404, 'features[1].feature_id'],
      [{ features: [{ feature_id: featureId }, { feature_id: featureId }] }, 422, 'features[1].feature_id'],
    ];
    for (const [parts, status, path] of wrong) {
      const { status: answered, body } = await send('POST', '/plans', planBody({ ...parts, name: 'Never' }));
      expect([path, answered, body.errors?.[0].path]).toEqual([path, status, path]);
    }
    const { data } = (await send('GET', '/plans?page_size=100')).body;
    expect(data.filter(({ name }: { name: string }) => name === 'Never')).toEqual([]);
  });

  test('once, however often its request is sent', async () => {
    const { id: meter } = await newMeter();
    const body = planBody({ charges: [usageCharge(meter)] });
    const key = { 'idempotency-key': `whole-plan-${slugs}` };
    const [first, again] = [await send('POST', '/plans', body, key), await send('POST', '/plans', body, key)];
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect((await read(first.body.id)).charges).toHaveLength(1);
  });
});

describe('a plan is changed', () => {
  const makePlan = async () => {
    const [one, other] = [await newMeter(), await newMeter()];
    const parts = {
      charges: [usageCharge(one.id), fixedCharge(10), fixedCharge(20)],
      features: [{ feature_id: one.featureId, usage_limit: 5 }],
    };
    const { body } = await send('POST', '/plans', planBody(parts));
    return { plan: await read(body.id), one, other };
  };

  test('in one step: named, a price replaced, one ended, one renamed, one added, features put and taken out', async () => {
    const { plan, one, other } = await makePlan();
    const [usage, base, support] = plan.charges;
    const { status } = await send('PATCH', `/plans/${plan.id}`, {
      name: 'Pro 2',
      update_charges: [
        { id: base.id, status: 'INACTIVE' },
        { id: support.id, display_name: 'Care' },
      ],
      add_charges: [{ ...usageCharge(one.id, { unit_price: '0.4' }), replaces: usage.id }, usageCharge(other.id)],
      remove_features: [one.featureId],
      put_features: [{ feature_id: other.featureId, usage_limit: '7' }],
    });
    expect(status).toBe(200);
    const after = await read(plan.id);
    expect(after.name).toBe('Pro 2');
    const shown = after.charges.map((each: Record<string, unknown>) => [each['display_name'], each['status']]);
    expect(shown).toEqual([
      ['Usage', 'INACTIVE'],
      ['Base fee', 'INACTIVE'],
      ['Care', 'ACTIVE'],
      ['Usage', 'ACTIVE'],
      ['Usage', 'ACTIVE'],
    ]);
    expect(after.charges[3].replaces).toBe(usage.id);
    expect(after.features).toMatchObject([{ feature_id: other.featureId, usage_limit: '7' }]);
    // What is not there any more is not taken out again.
    const remove_features = [other.featureId, one.featureId];
    const again = await send('PATCH', `/plans/${plan.id}`, { name: 'Never', remove_features });
    expect([again.status, again.body.errors?.[0].path]).toEqual([404, 'remove_features[1]']);
    expect(await read(plan.id)).toEqual(after);
    await send('PATCH', `/plans/${plan.id}`, { put_features: [{ feature_id: other.featureId, is_soft_limit: true }] });
    expect((await read(plan.id)).features).toMatchObject([{ usage_limit: null, is_soft_limit: true }]);
  });

  test('wholly or not at all, also where the last of it is refused', async () => {
    const { plan, one } = await makePlan();
    const [usage, base] = plan.charges;
    const nobodys = '01890000-0000-7000-8000-000000000001';
    const wrong: [changes: object, code: string, path?: string][] = [
      [{ put_features: [{ feature_id: nobodys }] }, 'not_found', 'put_features[0].feature_id'],
      [{ update_charges: [{ id: nobodys, status: 'INACTIVE' }] }, 'not_found', 'update_charges[0]'],
      [{ add_charges: [{ ...fixedCharge(1), replaces: usage.id }] }, 'invalid_request', 'add_charges[0].replaces'],
      [{ add_charges: [usageCharge(one.id)] }, 'meter_already_priced'],
      [{ add_charges: Array.from({ length: 21 }, () => fixedCharge(1)) }, 'invalid_request', 'add_charges'],
    ];
    for (const [changes, code, path] of wrong) {
      const all = { name: 'Never', remove_features: [one.featureId], ...changes };
      const ended = { update_charges: [{ id: base.id, status: 'INACTIVE' }], ...all };
      const { body } = await send('PATCH', `/plans/${plan.id}`, ended);
      expect([body.code, body.errors?.[0].path]).toEqual([code, path]);
    }
    expect(await read(plan.id)).toEqual(plan);
  });

  test('of a type that is changed in the same step takes the charges of that type', async () => {
    const { body } = await send('POST', '/plans', planBody({ type: 'FIXED' }));
    const add_charges = [usageCharge((await newMeter()).id)];
    expect((await send('PATCH', `/plans/${body.id}`, { add_charges })).body.code).toBe('charge_not_of_plan_type');
    expect((await send('PATCH', `/plans/${body.id}`, { type: 'USAGE', add_charges })).status).toBe(200);
  });

  test('also while another plan prices the same meters for the same customer, in another order', async () => {
    const [first, last] = [(await newMeter()).id, (await newMeter()).id].toSorted();
    const [one, other] = [await makePricedPlan(weir, organization), await makePricedPlan(weir, organization)];
    const alone = await makeCustomer(weir, organization, { external_id: `a-${randomUUID()}` });
    const both = await makeCustomer(weir, organization, { external_id: `b-${randomUUID()}` });
    const subscribe = (planId: string, customer: typeof both) =>
      insertSubscriptionRow(weir.pool, organization.id, { planId, customer });
    await subscribe(one.id, both);
    await subscribe(other.id, both);
    const own = await subscribe(other.id, alone);
    const price = (id: string, ...meters: string[]) =>
      send('PATCH', `/plans/${id}`, { add_charges: meters.map((meter) => usageCharge(meter)) });
    const holder = await weir.pool.connect();
    try {
      // The other plan gets the first meter for both customers, and waits with the last one for who is on that plan alone.
      await holder.query('BEGIN');
      await holder.query(
        `INSERT INTO billed_meters (organization_id, meter_id, customer_external_id, subscription_id)
         VALUES ($1, $2, $3, $4)`,
        [organization.id, last, alone.external_id, own],
      );
      const priced = price(other.id, first!, last!);
      await untilWaiting(weir);
      const beside = price(one.id, last!, first!);
      await untilWaiting(weir, 2);
      await holder.query('ROLLBACK');
      expect((await priced).status).toBe(200);
      expectProblem(await beside, 409, 'meter_already_billed');
    } finally {
      holder.release(true);
    }
  });
});
