// A request that changes something and carries an Idempotency-Key is done once, however often it is sent. That each of them is so:
// every-write.test.ts. Whatever dies: repeats-under-faults.test.ts.

import { openDatabase } from '@weir/db/database';
import { LeftAlone } from '@weir/db/left-alone';
import { deleteOldRequestKeys } from '@weir/db/request-keys';
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { join, sessionIn } from '../support/people.ts';
import { exchange } from '../support/raw-connection.ts';
import { expectRepeat, repeatingIn, TEN, type Repeating, type Sent } from '../support/repeating.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let repeating: Repeating;

beforeAll(async () => {
  admin = await signUp(weir);
  repeating = repeatingIn(weir, admin);
});

describe('repeats are in the share of their caller', () => {
  test('one is looked up at a time, and what cannot wait is told to come again', async () => {
    const customer = await repeating.newCustomer();
    const key = randomUUID();
    const first = await repeating.grant(key, customer);
    const api = await weir.startApi({ READS_IN_FLIGHT_PER_CALLER: '1', DATABASE_STATEMENT_TIMEOUT_MS: '60000' });
    const refused: Answer[] = [];
    const repeats: Promise<Answer>[] = [];
    const lock = 'LOCK TABLE request_keys IN ACCESS EXCLUSIVE MODE';
    await repeating.holding([lock], async (letGo) => {
      for (let n = 0; n < 40; n += 1) {
        const repeat = repeating.grant(key, customer, { baseUrl: api.url });
        repeats.push(repeat);
        void repeat.then((answer) => answer.status === 429 && refused.push(answer));
      }
      await until(async () => refused.length >= 19, 'all but one and the twenty that may wait are refused');
      const held = await repeating.rowsOf(
        'pg_stat_activity',
        `datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(held).toHaveLength(1);
      await letGo();
    });
    const answered = (await Promise.all(repeats)).filter(({ status }) => status !== 429);
    expect(answered.length).toBeGreaterThan(0);
    for (const answer of answered) expectRepeat(answer, first);
    expectProblem(refused[0] as Answer, 429, 'rate_limited');
    await api.close();
  });

  test('and their answers are paid for as the first was', async () => {
    const key = randomUUID();
    // Of some 58 KB, which is nearly the most that is kept whole.
    const tiers = Array.from({ length: 100 }, (_, n) => ({
      up_to: n < 99 ? String(n + 1) : null,
      unit_price: '0.000123456789012345',
      flat_fee: '123456789.25',
    }));
    const charges = [];
    for (let n = 0; n < 7; n += 1) {
      const meter = await admin.createMeter('SUM');
      charges.push({ type: 'USAGE', display_name: `Calls ${n}`, meter_id: meter.id, model: 'graduated', tiers });
    }
    const body = {
      name: 'Large',
      lookup_id: 'large',
      type: 'USAGE',
      billing_interval: 'month',
      currency: 'USD',
      charges,
    };
    const plan = await admin.ask('POST', '/plans', body);
    const subscribed = { customer_id: await repeating.newCustomer(), plan_id: plan.body.id };
    const { body: subscription } = await admin.ask('POST', '/subscriptions', subscribed);
    const preview = (sent: Sent = {}) =>
      repeating.send(key, 'POST', `/subscriptions/${subscription.id}/preview-invoice`, sent);
    const first = await preview();
    expect(first.status).toBe(200);
    // A hundred buckets a second: two such answers are owed for longer than anybody waits.
    const api = await weir.startApi({ READ_BUCKETS_PER_CALLER: '100' });
    for (const answer of await Promise.all([preview({ baseUrl: api.url }), preview({ baseUrl: api.url })]))
      expectRepeat(answer, first);
    expectProblem(await preview({ baseUrl: api.url }), 429, 'rate_limited');
    await api.close();
  });
});

describe('the same request with the same key', () => {
  test('grants once, and is answered as the first time', async () => {
    const customer = await repeating.newCustomer();
    const key = randomUUID();
    const first = await repeating.grant(key, customer);
    expect(first.status).toBe(201);
    const entries = await repeating.rowsOf('audit_entries', 'organization_id = $1', admin.id);
    const events = await repeating.rowsOf('billing_events', 'organization_id = $1', admin.id);
    expectRepeat(await repeating.grant(key, customer), first);
    expectRepeat(await repeating.grant(key, customer), first);
    expect(await repeating.balanceOf(customer)).toEqual({ USD: '10.00' });
    expect(await repeating.rowsOf('audit_entries', 'organization_id = $1', admin.id)).toEqual(entries);
    expect(await repeating.rowsOf('billing_events', 'organization_id = $1', admin.id)).toEqual(events);
  });

  test('deletes once: the second time it is no 404', async () => {
    const customer = await repeating.newCustomer();
    const key = randomUUID();
    const first = await repeating.send(key, 'DELETE', `/customers/${customer}`);
    expect(first.status).toBe(204);
    expectRepeat(await repeating.send(key, 'DELETE', `/customers/${customer}`), first);
    expectProblem(await repeating.send(randomUUID(), 'DELETE', `/customers/${customer}`), 404, 'not_found');
  });

  test('is answered as the first time, whatever has changed since', async () => {
    const customer = await repeating.newCustomer();
    const key = randomUUID();
    const rename = (name: string, of: string) =>
      repeating.send(of, 'PATCH', `/customers/${customer}`, { body: { name } });
    const first = await rename('First', key);
    await rename('Second', randomUUID());
    expectRepeat(await rename('First', key), first);
    expect(first.body.name).toBe('First');
    expect(await repeating.rowsOf('customers', 'id = $1', customer)).toMatchObject([{ name: 'Second' }]);
  });

  test('is the same from another session of the same person', async () => {
    const customer = await repeating.newCustomer();
    const key = randomUUID();
    const { email, password } = admin;
    const another = sessionIn(await weir.request('POST', '/api/v1/auth/login', { body: { email, password } }));
    const first = await repeating.grant(key, customer);
    expectRepeat(await repeating.grant(key, customer, { session: another }), first);
    expect(await repeating.balanceOf(customer)).toEqual({ USD: '10.00' });
  });

  test('by another person or in another organization is another request', async () => {
    const customer = await repeating.newCustomer();
    const key = randomUUID();
    const colleague = await join(weir, admin, 'admin');
    const other = await signUp(weir);
    const theirs = await repeating.newCustomer(other);
    const ids = [
      await repeating.grant(key, customer),
      await repeating.grant(key, customer, { session: colleague.session }),
      await repeating.grant(key, theirs, { session: other.session }),
    ].map(({ status, headers, body }) => {
      expect([status, headers.get('idempotent-replay')]).toEqual([201, null]);
      return body.id;
    });
    expect(new Set(ids).size).toBe(3);
    expect(await repeating.balanceOf(customer)).toEqual({ USD: '20.00' });
  });

  test('after 30 days is a new one', async () => {
    const customer = await repeating.newCustomer();
    const key = randomUUID();
    const first = await repeating.grant(key, customer);
    const age = (days: number) =>
      weir.pool.query(
        `UPDATE request_keys SET created_at = now() - make_interval(days => $1, hours => -1)
        WHERE answer::json ->> 'id' = $2`,
        [days, first.body.id],
      );
    await age(30);
    expectRepeat(await repeating.grant(key, customer), first);
    await weir.pool.query(`UPDATE request_keys SET created_at = created_at - interval '2 hours'`);
    const second = await repeating.grant(key, customer);
    expect(second).toMatchObject({ status: 201 });
    expect(second.body.id).not.toBe(first.body.id);
    expectRepeat(await repeating.grant(key, customer), second);
    expect(await repeating.balanceOf(customer)).toEqual({ USD: '20.00' });
  });
});

describe('a key', () => {
  test('that belongs to another body, path or method is refused, and stays with the first request', async () => {
    const customer = await repeating.newCustomer();
    const another = await repeating.newCustomer();
    const key = randomUUID();
    const first = await repeating.grant(key, customer);
    const others = [
      await repeating.grant(key, customer, { body: { ...TEN, amount: '11.00' } }),
      await repeating.grant(key, another),
      await repeating.send(key, 'DELETE', `/customers/${customer}`),
      await repeating.send(key, 'PATCH', `/customers/${customer}`, { body: { name: 'x' } }),
    ];
    for (const other of others) expectProblem(other, 422, 'idempotency_key_reused');
    expectRepeat(await repeating.grant(key, customer), first);
    expect(await repeating.balanceOf(another)).toEqual({});
  });

  test('of a request that was refused is free: nothing of it was kept', async () => {
    const customer = await repeating.newCustomer();
    const key = randomUUID();
    expectProblem(await repeating.grant(key, customer, { body: { ...TEN, amount: '0' } }), 422, 'invalid_request');
    expectProblem(await repeating.grant(key, randomUUID()), 404, 'not_found');
    const past = { ...TEN, expires_at: '2001-01-01T00:00:00Z' };
    expectProblem(await repeating.grant(key, customer, { body: past }), 422, 'invalid_request');
    const first = await repeating.grant(key, customer);
    expect(first.status).toBe(201);
    expectRepeat(await repeating.grant(key, customer), first);
    expect(await repeating.balanceOf(customer)).toEqual({ USD: '10.00' });
  });

  test('means the same in the quotes of a structured field as without, and when it is sent twice', async () => {
    const customer = await repeating.newCustomer();
    const key = `a "b" \\ ü ${randomUUID()}`;
    const latin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
    const quoted = `"${key.replace(/["\\]/g, String.raw`\$&`)}"`;
    const first = await repeating.grant(latin1(key), customer);
    expect(first.status).toBe(201);
    expectRepeat(await repeating.grant(latin1(quoted), customer), first);
    const sentTwice = async (another: string) => {
      const body = JSON.stringify(TEN);
      const headers = [
        `POST /api/v1/customers/${customer}/credits HTTP/1.1`,
        'Host: weir',
        'Connection: close',
        `Cookie: access_token=${admin.session}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        `Idempotency-Key: ${key}`,
        `Idempotency-Key: ${another}`,
      ];
      const [answer] = await exchange(weir.baseUrl, `${headers.join('\r\n')}\r\n\r\n${body}`);
      return answer;
    };
    expect(await sentTwice(key)).toMatchObject({ status: 201, body: first.body });
    expect(await sentTwice(randomUUID())).toMatchObject({ status: 422, body: { code: 'invalid_request' } });
    expect(await repeating.balanceOf(customer)).toEqual({ USD: '10.00' });
  });

  test.each([
    ['is empty', '""'],
    ['has more than 255 characters', 'k'.repeat(256)],
    ['has a quote that nothing closes', '"abc'],
    ['has something behind its quotes', '"abc";a=1'],
    ['is not UTF-8', 'abc\u00ff'],
  ])('is refused where it %s', async (_, key) => {
    const customer = await repeating.newCustomer();
    const answer = await repeating.grant(key, customer);
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe('Idempotency-Key');
    expect(await repeating.balanceOf(customer)).toEqual({});
  });

  test('is kept as a hash, and so is what was asked for', async () => {
    const key = `secret-${randomUUID()}`;
    const customer = await repeating.newCustomer();
    await repeating.grant(key, customer);
    const rows = await repeating.rowsOf('request_keys', 'organization_id = $1', admin.id);
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  test.each([
    ['GET', '/customers'],
    ['GET', '/usage?meter_token=x'],
    ['POST', '/auth/login'],
    ['POST', '/auth/signup'],
    ['POST', '/auth/logout'],
    ['POST', '/auth/password-reset'],
    ['POST', '/auth/password-reset/request'],
    ['POST', '/auth/invitation'],
    ['POST', '/auth/invitation/accept'],
  ])('is refused by %s %s, where it would be without effect', async (method, path) => {
    const answer = await repeating.send(randomUUID(), method, path, method === 'GET' ? {} : { body: {} });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe('Idempotency-Key');
  });
});

describe('while the first is under way', () => {
  test('a second one is told so at once, and done once all the same', async () => {
    const customer = await repeating.newCustomer();
    const key = randomUUID();
    const lock = `SELECT FROM customers WHERE id = '${customer}' FOR UPDATE`;
    const first = await repeating.holding([lock], async () => {
      const answer = repeating.grant(key, customer);
      await until(() => repeating.waits('customers'), 'the first one waits for the customer');
      const second = await repeating.grant(key, customer);
      expectProblem(second, 409, 'request_under_way');
      expect(second.headers.get('retry-after')).toBe('1');
      return { answer };
    });
    const answer = await first.answer;
    expect(answer.status).toBe(201);
    expectRepeat(await repeating.grant(key, customer), answer);
    expect(await repeating.balanceOf(customer)).toEqual({ USD: '10.00' });
  });

  test('twenty at once are done once: each is answered as the first, or told to ask again', async () => {
    const customer = await repeating.newCustomer();
    const second = await weir.startApi();
    for (const key of [randomUUID(), randomUUID(), randomUUID()]) {
      const before = (await repeating.balanceOf(customer)).USD ?? '0.00';
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          repeating.grant(key, customer, index % 2 === 0 ? {} : { baseUrl: second.url }),
        ),
      );
      const done = answers.filter(({ status }) => status === 201);
      for (const answer of answers) if (answer.status !== 201) expectProblem(answer, 409, 'request_under_way');
      expect(done.filter(({ headers }) => headers.get('idempotent-replay') === null)).toHaveLength(1);
      expect(new Set(done.map(({ body }) => body.id)).size).toBe(1);
      expect(Number((await repeating.balanceOf(customer)).USD) - Number(before)).toBe(10);
    }
    // One for each grant, and none for a repeat.
    const { data } = (await admin.ask('GET', `/audit-log?action=credit.create`)).body;
    expect(
      data.filter((each: { changes: { customer_id: string } }) => each.changes.customer_id === customer),
    ).toHaveLength(3);
    await second.close();
  });
});

describe('what is kept', () => {
  const openForMaintenance = () =>
    openDatabase(weir.databaseUrl, { connectionsMax: 1, statementTimeoutMs: 7_000, onConnectionError: () => {} });
  const insert = (organization: string, count: number, { hours, bytes }: { hours: number; bytes: number }) =>
    weir.pool.query(
      `INSERT INTO request_keys (organization_id, key_hash, request_hash, status, answer, withheld, created_at)
      SELECT $1, sha256(convert_to(gen_random_uuid()::text, 'UTF8')), '', 201, repeat('x', $3), '{}',
        now() - make_interval(hours => $4, secs => n) FROM generate_series(1, $2::int) AS n`,
      [organization, count, bytes, hours],
    );
  const count = async (organization: string) =>
    (await repeating.rowsOf('request_keys', 'organization_id = $1', organization)).length;

  test('goes after 30 days, of all organizations and however many there are', async () => {
    const [one, other] = [await signUp(weir), await signUp(weir)];
    const database = openForMaintenance();
    const before = [await count(one.id), await count(other.id)];
    await insert(one.id, 12_000, { hours: 721, bytes: 2 });
    await insert(other.id, 3, { hours: 721, bytes: 2 });
    await insert(other.id, 4, { hours: 700, bytes: 2 });
    expect(await deleteOldRequestKeys(database.kysely, new LeftAlone())).toBe(12_003);
    expect([await count(one.id), (await count(other.id)) - 4]).toEqual(before);
    await database.close();
  });

  test('of an organization that has more than its share goes, oldest first, and none younger than a day', async () => {
    const [greedy, other] = [await signUp(weir), await signUp(weir)];
    const database = openForMaintenance();
    await insert(greedy.id, 100, { hours: 300, bytes: 9_700 });
    await insert(greedy.id, 50, { hours: 48, bytes: 9_700 });
    await insert(greedy.id, 100, { hours: 1, bytes: 9_700 });
    await insert(other.id, 60, { hours: 300, bytes: 9_700 });
    // 100 of them.
    expect(await deleteOldRequestKeys(database.kysely, new LeftAlone(), 1_000_000)).toBe(50);
    const kept = await repeating.rowsOf(
      'request_keys',
      `organization_id = $1 AND created_at < now() - interval '200 hours'`,
      greedy.id,
    );
    expect(kept).toHaveLength(50);
    expect(await count(greedy.id)).toBe(200);
    expect(await count(other.id)).toBe(60);
    expect(await deleteOldRequestKeys(database.kysely, new LeftAlone(), 1_000_000)).toBe(0);
    await database.close();
  });
});
