// A request with an Idempotency-Key is done once, whatever dies while it is under way.

import { LOOKUP_MS_MAX } from '@weir/api/serve';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { join } from '../support/people.ts';
import { expectRepeat, repeatingIn, TEN, type Repeating } from '../support/repeating.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ lookupMsMax: LOOKUP_MS_MAX, withWorker: false });
let admin: Organization;
let repeating: Repeating;

beforeAll(async () => {
  admin = await signUp(weir);
  repeating = repeatingIn(weir, admin);
});

test('a process that is killed before the change is kept leaves nothing, and the repeat does it', async () => {
  const customer = await repeating.newCustomer();
  const key = randomUUID();
  const dying = await weir.spawnApi();
  await repeating.holding([`SELECT FROM customers WHERE id = '${customer}' FOR UPDATE`], async () => {
    const lost = repeating.grant(key, customer, { baseUrl: dying.url }).catch(() => 'lost');
    await until(() => repeating.waits('customers'), 'it waits for the customer');
    await dying.stop('SIGKILL');
    expect(await lost).toBe('lost');
  });
  let answer = await repeating.grant(key, customer);
  await until(async () => (answer = await repeating.grant(key, customer)).status !== 409, 'its lock is gone');
  expect(answer.status).toBe(201);
  expect(await repeating.balanceOf(customer)).toEqual({ USD: '10.00' });
});

test('an answer that is lost after the change is had by a repeat, from another process', async () => {
  const customer = await repeating.newCustomer();
  const key = randomUUID();
  const dying = await weir.spawnApi();
  const granted = () => repeating.rowsOf('credit_grants', 'customer_id = $1', customer);
  await repeating.holding([`SELECT FROM customers WHERE id = '${customer}' FOR UPDATE`], async (letGo) => {
    const lost = repeating.grant(key, customer, { baseUrl: dying.url }).catch(() => 'lost');
    await until(() => repeating.waits('customers'), 'it waits for the customer');
    // What comes after the change waits for this.
    await repeating.holding(['LOCK TABLE audit_entries IN SHARE ROW EXCLUSIVE MODE'], async () => {
      await letGo();
      await until(async () => (await granted()).length === 1, 'the grant is kept');
      await until(() => repeating.waits('audit_entries'), 'it marks its entry as done');
      await dying.stop('SIGKILL');
      expect(await lost).toBe('lost');
    });
  });
  const repeat = await repeating.grant(key, customer);
  expect(repeat).toMatchObject({ status: 201, body: { amount: '10.00' } });
  expect(repeat.headers.get('idempotent-replay')).toBe('true');
  expect(await granted()).toMatchObject([{ id: repeat.body.id }]);
});

test('a change that Postgres does not commit in the end has left no key, and one that it does has', async () => {
  const customer = await repeating.newCustomer();
  const [failing, dying] = [randomUUID(), randomUUID()];
  // Runs at the commit, when all has been written: fails it, or waits.
  await weir.pool.query(`
    CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.note = 'fails' THEN RAISE EXCEPTION 'not this time'; END IF;
      IF NEW.note = 'waits' THEN PERFORM pg_advisory_xact_lock(4711); END IF;
      RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON credit_grants DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION at_commit()`);
  const process = await weir.spawnApi();
  const fails = { body: { ...TEN, note: 'fails' } };
  const waiting = { body: { ...TEN, note: 'waits' } };
  expect((await repeating.grant(failing, customer, fails)).status).toBe(500);
  await repeating.holding(['SELECT pg_advisory_xact_lock(4711)'], async () => {
    const lost = repeating.grant(dying, customer, { ...waiting, baseUrl: process.url }).catch(() => 'lost');
    await until(() => repeating.waits('commit'), 'it commits');
    await process.stop('SIGKILL');
    expect(await lost).toBe('lost');
    expectProblem(await repeating.grant(dying, customer, waiting), 409, 'request_under_way');
  });
  await weir.pool.query('DROP TRIGGER at_commit ON credit_grants');
  await until(async () => (await repeating.grant(dying, customer, waiting)).status === 201, 'Postgres has gone on');
  expect((await repeating.grant(dying, customer, waiting)).headers.get('idempotent-replay')).toBe('true');
  expect(await repeating.balanceOf(customer)).toEqual({ USD: '10.00' });
  expect((await repeating.grant(failing, customer, fails)).headers.get('idempotent-replay')).toBeNull();
  expect(await repeating.balanceOf(customer)).toEqual({ USD: '20.00' });
});

test.each(['with a key', 'without one'])(
  'a connection to Postgres that is cut in the middle leaves nothing, and the answer says so, %s',
  async (how) => {
    const customer = await repeating.newCustomer();
    const key = how === 'with a key' ? randomUUID() : undefined;
    const cut = await repeating.holding([`SELECT FROM customers WHERE id = '${customer}' FOR UPDATE`], async () => {
      const answer = repeating.grant(key, customer);
      await until(() => repeating.waits('customers'), 'it waits for the customer');
      await weir.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE '%customers%'`,
      );
      return await answer;
    });
    expectProblem(cut, 503, 'unavailable');
    expect(cut.body.outcome).toBe('not_accepted');
    expect(await entriesAbout(customer)).toEqual([]);
    expect((await repeating.grant(key, customer)).status).toBe(201);
    expect(await repeating.balanceOf(customer)).toEqual({ USD: '10.00' });
  },
);

async function expectNothing(customer: string): Promise<void> {
  expect(await repeating.balanceOf(customer)).toEqual({});
  expect(await entriesAbout(customer)).toEqual([]);
}

/** Cuts what waits for a lock with this in its statement. */
const cut = (part: string) =>
  weir.pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE $1`,
    [`%${part}%`],
  );

test.each(['with a key', 'without one'])('a full process has kept nothing of a change %s', async (how) => {
  const customer = await repeating.newCustomer();
  const key = how === 'with a key' ? randomUUID() : undefined;
  const api = await weir.startApi({ REQUESTS_IN_FLIGHT_MAX: '1' });
  await repeating.holding([`SELECT FROM customers WHERE id = '${customer}' FOR UPDATE`], async () => {
    const taking = repeating.grant(undefined, customer, { baseUrl: api.url });
    await until(() => repeating.waits('customers'), 'the only slot is taken');
    const refused = await repeating.grant(key, customer, { baseUrl: api.url });
    expectProblem(refused, 503, 'unavailable');
    expect(refused.body.outcome).toBe('not_accepted');
    await cut('customers');
    expect((await taking).status).toBe(503);
  });
  await expectNothing(customer);
  await api.close();
});

test.each(['with a key', 'without one'])(
  'where it cannot be asked who sends a change %s, nothing is kept',
  async (how) => {
    const customer = await repeating.newCustomer();
    const key = how === 'with a key' ? randomUUID() : undefined;
    const refused = await repeating.holding(['LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE'], async () => {
      const answer = repeating.grant(key, customer);
      await until(() => repeating.waits('sessions'), 'it waits for the session');
      await cut('sessions');
      return await answer;
    });
    expectProblem(refused, 503, 'unavailable');
    expect(refused.body.outcome).toBe('not_accepted');
    await expectNothing(customer);
  },
);

test('an entry of the audit log whose answer was lost is taken back where nothing was done', async () => {
  const customer = await repeating.newCustomer();
  const proxy = await losingCommits(weir.databaseUrl);
  const api = await weir.startApi({ DATABASE_URL: proxy.url });
  proxy.begin('answer', 'insert into "audit_entries"');
  const lost = await repeating.grant(undefined, customer, { baseUrl: api.url });
  expect(proxy.lost()).toBe(1);
  expectProblem(lost, 503, 'unavailable');
  expect(lost.body.outcome).toBe('not_accepted');
  expect(await entriesAbout(customer)).toEqual([]);
  await api.close();
  await proxy.close();
});

test('an answer of Postgres to a commit that is lost is looked for: nobody is told that it failed', async () => {
  const customer = await repeating.newCustomer();
  const key = randomUUID();
  const proxy = await losingCommits(weir.databaseUrl);
  const api = await weir.startApi({ DATABASE_URL: proxy.url });
  proxy.begin('answer');
  const first = await repeating.grant(key, customer, { baseUrl: api.url });
  expect(proxy.lost()).toBe(1);
  expect(first).toMatchObject({ status: 201, body: { amount: '10.00' } });
  expect(first.headers.get('idempotent-replay')).toBeNull();
  expectRepeat(await repeating.grant(key, customer), first);
  expect(await repeating.balanceOf(customer)).toEqual({ USD: '10.00' });
  expect(await entriesAbout(customer)).toMatchObject([{ is_done: true, resource_id: first.body.id }]);
  await api.close();
  await proxy.close();
});

test('without a key it cannot be looked for: the answer says that the change may have been made', async () => {
  const customer = await repeating.newCustomer();
  const proxy = await losingCommits(weir.databaseUrl);
  const api = await weir.startApi({ DATABASE_URL: proxy.url });
  proxy.begin('answer');
  const lost = await repeating.grant(undefined, customer, { baseUrl: api.url });
  expect(proxy.lost()).toBe(1);
  expectProblem(lost, 503, 'unavailable');
  expect(lost.body).toMatchObject({ outcome: 'unknown', detail: expect.stringContaining('look whether it was') });
  expect(await repeating.balanceOf(customer)).toEqual({ USD: '10.00' });
  expect(await entriesAbout(customer)).toMatchObject([{ is_done: false, resource_id: null }]);
  await api.close();
  await proxy.close();
});

test('a sign-up whose commit was lost takes no key: the answer says to try first to sign in', async () => {
  const proxy = await losingCommits(weir.databaseUrl);
  const api = await weir.startApi({ DATABASE_URL: proxy.url });
  proxy.begin('answer');
  const signIn = { email: 'lost@example.com', password: 'correct horse battery' };
  const body = { ...signIn, organization_name: 'Lost' };
  const lost = await weir.request('POST', '/api/v1/auth/signup', { baseUrl: api.url, body });
  expect(proxy.lost()).toBe(1);
  expectProblem(lost, 503, 'unavailable');
  expect(lost.body).toMatchObject({ outcome: 'unknown', detail: expect.stringContaining('try first to sign in') });
  expect((await weir.request('POST', '/api/v1/auth/login', { body: signIn })).status).toBe(200);
  await api.close();
  await proxy.close();
});

test('of a change that is one statement it is not known whether it was made, once its connection is cut', async () => {
  const rename = () =>
    weir.request('PATCH', '/api/v1/organization', { session: admin.session, body: { name: 'Renamed' } });
  const held = `SELECT FROM organizations WHERE id = '${admin.id}' FOR NO KEY UPDATE`;
  const cut = await repeating.holding([held], async () => {
    const answer = rename();
    await until(() => repeating.waits('update "organizations"'), 'it waits for the organization');
    await weir.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE 'update "organizations"%'`,
    );
    return await answer;
  });
  expectProblem(cut, 503, 'unavailable');
  expect(cut.body.outcome).toBe('unknown');
  expect((await rename()).status).toBe(200);
});

test('where nothing is found of a change whose commit was lost, it is not known: the same key settles it', async () => {
  const customer = await repeating.newCustomer();
  const key = randomUUID();
  const proxy = await losingCommits(weir.databaseUrl);
  const api = await weir.startApi({ DATABASE_URL: proxy.url });
  proxy.begin('commit');
  const asked = repeating.grant(key, customer, { baseUrl: api.url });
  await until(async () => proxy.lost() === 1, 'the commit is lost');
  proxy.letGo();
  const lost = await asked;
  expectProblem(lost, 503, 'unavailable');
  expect(lost.body).toMatchObject({ outcome: 'unknown', detail: expect.stringContaining('same Idempotency-Key') });
  await until(async () => (await repeating.grant(key, customer)).status === 201, 'Postgres has noticed');
  expect(await repeating.balanceOf(customer)).toEqual({ USD: '10.00' });
  await api.close();
  await proxy.close();
});

test('a commit that was lost while a repeat made the change is answered with what the repeat came to', async () => {
  const customer = await repeating.newCustomer();
  const key = randomUUID();
  const proxy = await losingCommits(weir.databaseUrl);
  const api = await weir.startApi({ DATABASE_URL: proxy.url });
  proxy.begin('commit');
  const asked = repeating.grant(key, customer, { baseUrl: api.url });
  await until(async () => proxy.lost() === 1, 'the commit is lost');
  let repeat = await repeating.grant(key, customer);
  await until(async () => (repeat = await repeating.grant(key, customer)).status === 201, 'Postgres has noticed');
  proxy.letGo();
  const first = await asked;
  expect(first).toMatchObject({ status: 201, body: { id: repeat.body.id } });
  expect(first.headers.get('idempotent-replay')).toBe('true');
  const grants = await repeating.rowsOf('credit_grants', 'customer_id = $1', customer);
  expect(grants).toMatchObject([{ id: repeat.body.id }]);
  expect(await entriesAbout(customer)).toMatchObject([{ is_done: true, resource_id: repeat.body.id }]);
  await api.close();
  await proxy.close();
});

test('a password that two requests change at once is changed once, and neither hears that it was wrong', async () => {
  const member = await join(weir, admin, 'viewer');
  const body = { current_password: member.password, new_password: 'another horse battery' };
  const key = randomUUID();
  const change = () => repeating.send(key, 'POST', '/auth/password', { body, session: member.session });
  const both = await Promise.all([change(), change()]);
  for (const { status } of both) expect([204, 409]).toContain(status);
  expect(
    both.filter(({ status, headers }) => status === 204 && headers.get('idempotent-replay') === null),
  ).toHaveLength(1);
  expect((await change()).headers.get('idempotent-replay')).toBe('true');
});

const entriesAbout = (customer: string) =>
  repeating.rowsOf('audit_entries', `changes ->> 'customer_id' = $1`, customer);

/**
 * A way to Postgres on which a commit, or another statement with a text in it, is lost, or the answer to it, once it is asked to begin. Of
 * a commit that is lost Postgres sees the connection end, and whoever sent it hears nothing until it is let go.
 */
async function losingCommits(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl);
  let losing: 'commit' | 'answer' | undefined;
  let lost = 0;
  let text = '';
  const waiting: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port) });
    let isCommitting = false;
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.on('data', (bytes: Buffer) => {
      isCommitting ||= losing !== undefined && bytes.includes(text);
      if (!isCommitting || losing !== 'commit') return void upstream.write(bytes);
      losing = undefined;
      lost += 1;
      waiting.push(client);
      upstream.destroy();
    });
    upstream.on('data', (bytes) => {
      if (!isCommitting) return void client.write(bytes);
      losing = undefined;
      lost += 1;
      client.destroy();
      upstream.destroy();
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => {
      if (!waiting.includes(client)) client.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    begin: (what: 'commit' | 'answer', of = 'commit\0') => {
      text = of;
      losing = what;
    },
    letGo: () => waiting.forEach((client) => client.destroy()),
    lost: () => lost,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
