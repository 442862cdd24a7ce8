// Granting, reading and voiding credits. What invoices draw of them is in draws.test.ts.

import { beforeAll, describe, expect, test } from 'vitest';
import { setBillingTime, shiftBillingTime } from '../support/billing-time.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Answer, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;

beforeAll(async () => {
  admin = await signUp(weir);
});

const createCustomer = async (): Promise<string> => (await admin.ask('POST', '/customers', {})).body.id;

const grant = (customer: string, body: object): Promise<Answer> =>
  admin.ask('POST', `/customers/${customer}/credits`, { amount: '10.00', currency: 'USD', ...body });

const creditsOf = async (customer: string) => (await admin.ask('GET', `/customers/${customer}/credits`)).body;

const feed = async (): Promise<{ type: string; actor: string; data: Record<string, unknown> }[]> =>
  (await admin.ask('GET', '/billing-events?limit=1000')).body.data;

const NOBODY = '01890000-0000-7000-8000-000000000005';

describe('granting', () => {
  test('answers with the grant, and with what was left out as it is by default', async () => {
    const customer = await createCustomer();
    const { status, body } = await grant(customer, { amount: 82.28 });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      amount: '82.28',
      currency: 'USD',
      remaining: '82.28',
      priority: 0,
      expires_at: null,
      note: null,
      external_id: null,
      status: 'ACTIVE',
      created_at: expect.stringMatching(/Z$/),
    });
    expect(await creditsOf(customer)).toEqual({ balance: { USD: '82.28' }, grants: [body] });
  });

  test('keeps every field that was sent, and times to the microsecond', async () => {
    const fields = { priority: 100, note: 'Sorry for the outage', external_id: 'refund-1' };
    const { body } = await grant(await createCustomer(), { ...fields, expires_at: '2100-01-31T09:30:00.123456+02:00' });
    expect(body).toMatchObject({ ...fields, expires_at: '2100-01-31T07:30:00.123456Z' });
  });

  test.each([
    ['USD', '12.3', '12.30'],
    ['USD', 0.1, '0.10'],
    ['USD', '999999999999999.99', '999999999999999.99'],
    ['JPY', '1230', '1230'],
    ['JPY', 1e3, '1000'],
    ['KWD', '1.005', '1.005'],
    ['HUF', '5.25', '5.25'],
    ['CLF', '0.0001', '0.0001'],
  ])('of %s %j has exactly the minor digits of the currency: %s', async (currency, amount, expected) => {
    const { status, body } = await grant(await createCustomer(), { currency, amount });
    expect([status, body.amount, body.remaining]).toEqual([201, expected, expected]);
  });

  test('takes the digits of a number from what was sent, where a float has not enough of them', async () => {
    const customer = await createCustomer();
    const raw = '{"currency":"USD","amount":123456789012345.67}';
    const { body } = await weir.request('POST', `/api/v1/customers/${customer}/credits`, {
      session: admin.session,
      raw,
    });
    expect(body.amount).toBe('123456789012345.67');
  });

  test.each([
    ['amount', 0],
    ['amount', '0.00'],
    ['amount', -1],
    ['amount', '-0.01'],
    ['amount', '1e2'],
    ['amount', 'ten'],
    ['amount', null],
    ['amount', 1.005],
    ['amount', '1000000000000000.00'],
    ['currency', 'usd'],
    ['currency', 'XXX'],
    ['currency', undefined],
    ['expires_at', '2100-01-31'],
    ['expires_at', '2100-01-31T09:30:00'],
    ['expires_at', '2200-01-01T00:00:00Z'],
    // In UTC it is in the year 10000.
    ['expires_at', '9999-12-31T23:59:59-05:00'],
    ['expires_at', '2020-01-01T00:00:00Z'],
    ['priority', -1],
    ['priority', 101],
    ['priority', 0.5],
    ['note', ''],
    ['external_id', 'x'.repeat(256)],
    ['remaining', '1.00'],
  ])('with %s %j is refused, and nothing is granted', async (field, value) => {
    const customer = await createCustomer();
    const answer = await grant(customer, { [field]: value });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe(field);
    expect(await creditsOf(customer)).toEqual({ balance: {}, grants: [] });
  });

  test('of JPY with digits after the point is refused, since a yen has none', async () => {
    const { status, body } = await grant(await createCustomer(), { currency: 'JPY', amount: '0.5' });
    expect([status, body.errors]).toEqual([
      422,
      [{ path: 'amount', message: 'must have at most 0 digits after the point' }],
    ]);
  });

  test('to a customer that does not exist is 404', async () => {
    expectProblem(await grant(NOBODY, {}), 404, 'not_found');
    expectProblem(await admin.ask('GET', `/customers/${NOBODY}/credits`), 404, 'not_found');
  });

  test('with an external_id that is taken is 409 with the id of the first one, before any other conflict', async () => {
    const customer = await createCustomer();
    const first = await grant(customer, { external_id: 'once' });
    const again = await grant(customer, { external_id: 'once', expires_at: '2020-01-01T00:00:00Z' });
    expectProblem(again, 409, 'external_id_taken');
    expect(again.body.id).toBe(first.body.id);
    expect((await creditsOf(customer)).grants).toHaveLength(1);
  });

  test('ten times at once with one external_id grants once, and tells the others its id', async () => {
    const customer = await createCustomer();
    const answers = await Promise.all(Array.from({ length: 10 }, () => grant(customer, { external_id: 'at once' })));
    const granted = answers.filter(({ status }) => status === 201);
    expect(granted).toHaveLength(1);
    for (const { status, body } of answers) {
      if (status === 201) continue;
      expect([status, body.code, body.id]).toEqual([409, 'external_id_taken', granted[0]?.body.id]);
    }
    expect((await creditsOf(customer)).balance).toEqual({ USD: '10.00' });
  });

  test('is told to the feed, with who did it; what is refused is not', async () => {
    const before = (await feed()).length;
    const customer = await createCustomer();
    const { body } = await grant(customer, { external_id: 'told' });
    await grant(customer, { external_id: 'told' });
    const { body: me } = await admin.ask('GET', '/auth/me');
    expect((await feed()).slice(before)).toEqual([
      {
        sequence: expect.any(Number),
        created_at: expect.any(String),
        type: 'credit.granted',
        actor: `user:${me.user.id}`,
        data: { credit_id: body.id, customer_id: customer, currency: 'USD', amount: '10.00', invoice_id: null },
      },
    ]);
  });
});

describe('reading', () => {
  test('a customer without credits has no balance and no grants', async () => {
    expect(await creditsOf(await createCustomer())).toEqual({ balance: {}, grants: [] });
  });

  test('the balance is by currency, and the grants come newest first', async () => {
    const customer = await createCustomer();
    const ids: string[] = [];
    for (const body of [{ amount: '1.10' }, { amount: '2.20' }, { currency: 'JPY', amount: 500 }])
      ids.push((await grant(customer, body)).body.id);
    const { balance, grants } = await creditsOf(customer);
    expect(balance).toEqual({ USD: '3.30', JPY: '500' });
    expect(grants.map(({ id }: { id: string }) => id)).toEqual(ids.toReversed());
  });

  test('a grant counts up to its expires_at, exclusive; then nothing is left of it', async () => {
    const customer = await createCustomer();
    await grant(customer, { expires_at: '2100-01-01T00:00:00Z' });
    try {
      await setBillingTime(weir.pool, '2099-12-31T23:59:59.999999Z');
      expect(await creditsOf(customer)).toMatchObject({
        balance: { USD: '10.00' },
        grants: [{ status: 'ACTIVE', remaining: '10.00' }],
      });
      await setBillingTime(weir.pool, '2100-01-01T00:00:00Z');
      expect(await creditsOf(customer)).toMatchObject({
        balance: { USD: '0.00' },
        grants: [{ status: 'EXPIRED', remaining: '0.00', amount: '10.00' }],
      });
    } finally {
      await shiftBillingTime(weir.pool);
    }
  });

  test('a customer with credits is not deleted', async () => {
    const customer = await createCustomer();
    await grant(customer, {});
    expectProblem(await admin.ask('DELETE', `/customers/${customer}`), 409, 'customer_in_use');
    expect((await creditsOf(customer)).balance).toEqual({ USD: '10.00' });
  });
});

describe('voiding', () => {
  test('ends what is left of a grant, and of no other', async () => {
    const customer = await createCustomer();
    const { body: first } = await grant(customer, {});
    const { body: second } = await grant(customer, { amount: '5.00' });
    const { status, body } = await admin.ask('POST', `/credits/${first.id}/void`);
    expect([status, body]).toEqual([200, { ...first, remaining: '0.00', status: 'VOID' }]);
    expect(await creditsOf(customer)).toEqual({ balance: { USD: '5.00' }, grants: [second, body] });
  });

  test('is told to the feed with what was left; a second time changes nothing and is not told', async () => {
    const customer = await createCustomer();
    const { body } = await grant(customer, {});
    const before = (await feed()).length;
    const first = await admin.ask('POST', `/credits/${body.id}/void`);
    const second = await admin.ask('POST', `/credits/${body.id}/void`);
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect((await feed()).slice(before)).toMatchObject([
      {
        type: 'credit.voided',
        actor: expect.stringMatching(/^user:/),
        data: { credit_id: body.id, customer_id: customer, currency: 'USD', amount: '10.00' },
      },
    ]);
  });

  test('ten times at once ends a grant once', async () => {
    const { body } = await grant(await createCustomer(), {});
    const before = (await feed()).length;
    const answers = await Promise.all(Array.from({ length: 10 }, () => admin.ask('POST', `/credits/${body.id}/void`)));
    for (const answer of answers) expect([answer.status, answer.body.status]).toEqual([200, 'VOID']);
    expect(await feed()).toHaveLength(before + 1);
    const { rows } = await weir.pool.query('SELECT kind, amount FROM credit_entries WHERE grant_id = $1', [body.id]);
    expect(rows).toEqual([{ kind: 'VOID', amount: '10.00' }]);
  });

  test('a grant that has expired leaves it so', async () => {
    const customer = await createCustomer();
    const { body } = await grant(customer, { expires_at: '2100-01-01T00:00:00Z' });
    const before = (await feed()).length;
    try {
      await setBillingTime(weir.pool, '2100-01-01T00:00:00Z');
      const answer = await admin.ask('POST', `/credits/${body.id}/void`);
      expect([answer.status, answer.body.status, answer.body.remaining]).toEqual([200, 'EXPIRED', '0.00']);
    } finally {
      await shiftBillingTime(weir.pool);
    }
    expect(await feed()).toHaveLength(before);
  });

  test('a grant that does not exist is 404', async () => {
    expectProblem(await admin.ask('POST', `/credits/${NOBODY}/void`), 404, 'not_found');
  });
});
