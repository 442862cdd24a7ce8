// A request that changes something and carries an Idempotency-Key is done once, however often it is sent. That each of them is so:
// every-write.test.ts.

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCustomer } from '../support/billing-fixture.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, startWeir, until, type Answer, type Organization, type Weir } from '../support/harness.ts';
import { join, sessionIn } from '../support/people.ts';
import { exchange } from '../support/raw-connection.ts';

let weir: Weir;
let admin: Organization;

beforeAll(async () => {
  weir = await startWeir({ withWorker: false });
  admin = await signUp(weir);
});
afterAll(() => weir.close());

interface Sent {
  body?: unknown;
  session?: string;
  baseUrl?: string;
}

const send = (key: string, method: string, path: string, { session, ...sent }: Sent = {}): Promise<Answer> =>
  weir.request(method, `/api/v1${path}`, {
    session: session ?? admin.session,
    headers: { 'idempotency-key': key },
    ...sent,
  });

const newCustomer = async (of: Organization = admin): Promise<string> => (await makeCustomer(weir, of)).id;
const TEN = { amount: '10.00', currency: 'USD' };
const grant = (key: string, customer: string, sent: Sent = {}): Promise<Answer> =>
  send(key, 'POST', `/customers/${customer}/credits`, { body: TEN, ...sent });
const balanceOf = async (customer: string, { session } = admin) =>
  (await weir.request('GET', `/api/v1/customers/${customer}/credits`, { session })).body.balance;

function expectRepeat(answer: Answer, first: Answer): void {
  expect({ status: answer.status, body: answer.body }).toEqual({ status: first.status, body: first.body });
  expect(answer.headers.get('idempotent-replay')).toBe('true');
  expect(answer.headers.get('content-type')).toBe(first.headers.get('content-type'));
  expect(first.headers.get('idempotent-replay')).toBeNull();
}

const rowsOf = async (table: string, where: string, ...values: unknown[]) =>
  (await weir.pool.query(`SELECT * FROM ${table} WHERE ${where}`, values)).rows;

/** Holds locks while something is done, or until they are let go in it. */
async function holding<Result>(
  statements: string[],
  work: (letGo: () => Promise<unknown>) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: weir.databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    for (const statement of statements) await client.query(statement);
    return await work(() => client.query('ROLLBACK'));
  } finally {
    await client.end();
  }
}

const waits = async (part: string): Promise<boolean> =>
  (
    await weir.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE $1`,
      [`%${part}%`],
    )
  ).rowCount !== 0;

describe('the same request with the same key', () => {
  test('grants once, and is answered as the first time', async () => {
    const customer = await newCustomer();
    const key = randomUUID();
    const first = await grant(key, customer);
    expect(first.status).toBe(201);
    const entries = await rowsOf('audit_entries', 'organization_id = $1', admin.id);
    const events = await rowsOf('billing_events', 'organization_id = $1', admin.id);
    expectRepeat(await grant(key, customer), first);
    expectRepeat(await grant(key, customer), first);
    expect(await balanceOf(customer)).toEqual({ USD: '10.00' });
    expect(await rowsOf('audit_entries', 'organization_id = $1', admin.id)).toEqual(entries);
    expect(await rowsOf('billing_events', 'organization_id = $1', admin.id)).toEqual(events);
  });

  test('deletes once: the second time it is no 404', async () => {
    const customer = await newCustomer();
    const key = randomUUID();
    const first = await send(key, 'DELETE', `/customers/${customer}`);
    expect(first.status).toBe(204);
    expectRepeat(await send(key, 'DELETE', `/customers/${customer}`), first);
    expectProblem(await send(randomUUID(), 'DELETE', `/customers/${customer}`), 404, 'not_found');
  });

  test('is answered as the first time, whatever has changed since', async () => {
    const customer = await newCustomer();
    const key = randomUUID();
    const rename = (name: string, of: string) => send(of, 'PATCH', `/customers/${customer}`, { body: { name } });
    const first = await rename('First', key);
    await rename('Second', randomUUID());
    expectRepeat(await rename('First', key), first);
    expect(first.body.name).toBe('First');
    expect(await rowsOf('customers', 'id = $1', customer)).toMatchObject([{ name: 'Second' }]);
  });

  test('is the same from another session of the same person', async () => {
    const customer = await newCustomer();
    const key = randomUUID();
    const { email, password } = admin;
    const another = sessionIn(await weir.request('POST', '/api/v1/auth/login', { body: { email, password } }));
    const first = await grant(key, customer);
    expectRepeat(await grant(key, customer, { session: another }), first);
    expect(await balanceOf(customer)).toEqual({ USD: '10.00' });
  });

  test('by another person or in another organization is another request', async () => {
    const customer = await newCustomer();
    const key = randomUUID();
    const colleague = await join(weir, admin, 'admin');
    const other = await signUp(weir);
    const theirs = await newCustomer(other);
    const ids = [
      await grant(key, customer),
      await grant(key, customer, { session: colleague.session }),
      await grant(key, theirs, { session: other.session }),
    ].map(({ status, headers, body }) => {
      expect([status, headers.get('idempotent-replay')]).toEqual([201, null]);
      return body.id;
    });
    expect(new Set(ids).size).toBe(3);
    expect(await balanceOf(customer)).toEqual({ USD: '20.00' });
  });

  test('after 30 days is a new one', async () => {
    const customer = await newCustomer();
    const key = randomUUID();
    const first = await grant(key, customer);
    const age = (days: number) =>
      weir.pool.query(
        `UPDATE request_keys SET created_at = now() - make_interval(days => $1, hours => -1)
        WHERE answer::json ->> 'id' = $2`,
        [days, first.body.id],
      );
    await age(30);
    expectRepeat(await grant(key, customer), first);
    await weir.pool.query(`UPDATE request_keys SET created_at = created_at - interval '2 hours'`);
    const second = await grant(key, customer);
    expect(second).toMatchObject({ status: 201 });
    expect(second.body.id).not.toBe(first.body.id);
    expectRepeat(await grant(key, customer), second);
    expect(await balanceOf(customer)).toEqual({ USD: '20.00' });
  });
});

describe('a key', () => {
  test('that belongs to another body, path or method is refused, and stays with the first request', async () => {
    const customer = await newCustomer();
    const another = await newCustomer();
    const key = randomUUID();
    const first = await grant(key, customer);
    const others = [
      await grant(key, customer, { body: { ...TEN, amount: '11.00' } }),
      await grant(key, another),
      await send(key, 'DELETE', `/customers/${customer}`),
      await send(key, 'PATCH', `/customers/${customer}`, { body: { name: 'x' } }),
    ];
    for (const other of others) expectProblem(other, 422, 'idempotency_key_reused');
    expectRepeat(await grant(key, customer), first);
    expect(await balanceOf(another)).toEqual({});
  });

  test('of a request that was refused is free: nothing of it was kept', async () => {
    const customer = await newCustomer();
    const key = randomUUID();
    expectProblem(await grant(key, customer, { body: { ...TEN, amount: '0' } }), 422, 'invalid_request');
    expectProblem(await grant(key, randomUUID()), 404, 'not_found');
    const past = { ...TEN, expires_at: '2001-01-01T00:00:00Z' };
    expectProblem(await grant(key, customer, { body: past }), 422, 'invalid_request');
    const first = await grant(key, customer);
    expect(first.status).toBe(201);
    expectRepeat(await grant(key, customer), first);
    expect(await balanceOf(customer)).toEqual({ USD: '10.00' });
  });

  test('means the same in the quotes of a structured field as without, and when it is sent twice', async () => {
    const customer = await newCustomer();
    const key = `a "b" \\ ü ${randomUUID()}`;
    const latin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
    const quoted = `"${key.replace(/["\\]/g, String.raw`\$&`)}"`;
    const first = await grant(latin1(key), customer);
    expect(first.status).toBe(201);
    expectRepeat(await grant(latin1(quoted), customer), first);
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
    expect(await balanceOf(customer)).toEqual({ USD: '10.00' });
  });

  test.each([
    ['is empty', '""'],
    ['has more than 255 characters', 'k'.repeat(256)],
    ['has a quote that nothing closes', '"abc'],
    ['has something behind its quotes', '"abc";a=1'],
    ['is not UTF-8', 'abc\u00ff'],
  ])('is refused where it %s', async (_, key) => {
    const customer = await newCustomer();
    const answer = await grant(key, customer);
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe('Idempotency-Key');
    expect(await balanceOf(customer)).toEqual({});
  });

  test('is kept as a hash, and so is what was asked for', async () => {
    const key = `secret-${randomUUID()}`;
    const customer = await newCustomer();
    await grant(key, customer);
    const rows = await rowsOf('request_keys', 'organization_id = $1', admin.id);
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
    const answer = await send(randomUUID(), method, path, method === 'GET' ? {} : { body: {} });
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe('Idempotency-Key');
  });
});

describe('while the first is under way', () => {
  test('a second one is told so at once, and done once all the same', async () => {
    const customer = await newCustomer();
    const key = randomUUID();
    const lock = `SELECT FROM customers WHERE id = '${customer}' FOR UPDATE`;
    const first = await holding([lock], async () => {
      const answer = grant(key, customer);
      await until(() => waits('customers'), 'the first one waits for the customer');
      const second = await grant(key, customer);
      expectProblem(second, 409, 'request_under_way');
      expect(second.headers.get('retry-after')).toBe('1');
      return { answer };
    });
    const answer = await first.answer;
    expect(answer.status).toBe(201);
    expectRepeat(await grant(key, customer), answer);
    expect(await balanceOf(customer)).toEqual({ USD: '10.00' });
  });

  test('twenty at once are done once: each is answered as the first, or told to ask again', async () => {
    const customer = await newCustomer();
    const second = await weir.startApi();
    for (const key of [randomUUID(), randomUUID(), randomUUID()]) {
      const before = (await balanceOf(customer)).USD ?? '0.00';
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => grant(key, customer, index % 2 === 0 ? {} : { baseUrl: second.url })),
      );
      const done = answers.filter(({ status }) => status === 201);
      for (const answer of answers) if (answer.status !== 201) expectProblem(answer, 409, 'request_under_way');
      expect(done.filter(({ headers }) => headers.get('idempotent-replay') === null)).toHaveLength(1);
      expect(new Set(done.map(({ body }) => body.id)).size).toBe(1);
      expect(Number((await balanceOf(customer)).USD) - Number(before)).toBe(10);
    }
    // One for each grant, and none for a repeat.
    const { data } = (await weir.request('GET', `/api/v1/audit-log?action=credit.create`, { session: admin.session }))
      .body;
    expect(
      data.filter((each: { changes: { customer_id: string } }) => each.changes.customer_id === customer),
    ).toHaveLength(3);
    await second.close();
  });
});

describe('when something dies', () => {
  test('a process that is killed before the change is kept leaves nothing, and the repeat does it', async () => {
    const customer = await newCustomer();
    const key = randomUUID();
    const dying = await weir.spawnApi();
    await holding([`SELECT FROM customers WHERE id = '${customer}' FOR UPDATE`], async () => {
      const lost = grant(key, customer, { baseUrl: dying.url }).catch(() => 'lost');
      await until(() => waits('customers'), 'it waits for the customer');
      await dying.stop('SIGKILL');
      expect(await lost).toBe('lost');
    });
    let answer = await grant(key, customer);
    await until(async () => (answer = await grant(key, customer)).status !== 409, 'its lock is gone');
    expect(answer.status).toBe(201);
    expect(await balanceOf(customer)).toEqual({ USD: '10.00' });
  });

  test('an answer that is lost after the change is had by a repeat, from another process', async () => {
    const customer = await newCustomer();
    const key = randomUUID();
    const dying = await weir.spawnApi();
    const granted = () => rowsOf('credit_grants', 'customer_id = $1', customer);
    await holding([`SELECT FROM customers WHERE id = '${customer}' FOR UPDATE`], async (letGo) => {
      const lost = grant(key, customer, { baseUrl: dying.url }).catch(() => 'lost');
      await until(() => waits('customers'), 'it waits for the customer');
      // What comes after the change waits for this.
      await holding(['LOCK TABLE audit_entries IN SHARE ROW EXCLUSIVE MODE'], async () => {
        await letGo();
        await until(async () => (await granted()).length === 1, 'the grant is kept');
        await until(() => waits('audit_entries'), 'it marks its entry as done');
        await dying.stop('SIGKILL');
        expect(await lost).toBe('lost');
      });
    });
    const repeat = await grant(key, customer);
    expect(repeat).toMatchObject({ status: 201, body: { amount: '10.00' } });
    expect(repeat.headers.get('idempotent-replay')).toBe('true');
    expect(await granted()).toMatchObject([{ id: repeat.body.id }]);
  });

  test('a connection to Postgres that is cut in the middle leaves nothing, and the repeat does it', async () => {
    const customer = await newCustomer();
    const key = randomUUID();
    const cut = await holding([`SELECT FROM customers WHERE id = '${customer}' FOR UPDATE`], async () => {
      const answer = grant(key, customer);
      await until(() => waits('customers'), 'it waits for the customer');
      await weir.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE '%customers%'`,
      );
      return await answer;
    });
    expectProblem(cut, 503, 'unavailable');
    expect((await grant(key, customer)).status).toBe(201);
    expect(await balanceOf(customer)).toEqual({ USD: '10.00' });
  });
});
