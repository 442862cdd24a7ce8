// What one organization does is no reason for another one to wait: heavy batches, names that do not exist, large reads.
// Nothing here is measured in seconds. What counts is what others are answered while the heavy thing is still under way.

import { LOOKUP_MS_MAX } from '@weir/api/serve';
import { ROLLUPS } from '@weir/db/rollups';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import pg from 'pg';
import { bestOfThree } from '../support/best-of-three.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { DEFAULT_SHARE, signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ api: DEFAULT_SHARE, lookupMsMax: LOOKUP_MS_MAX, withWorker: false });
let noisy: Organization;
let quiet: Organization;
let keys: { noisy: string; quiet: string };
let meters: { noisy: { id: string; token: string }; quiet: { id: string; token: string } };

beforeAll(async () => {
  [noisy, quiet] = [await signUp(weir), await signUp(weir)];
  keys = { noisy: await noisy.createKey(), quiet: await quiet.createKey() };
  meters = { noisy: await noisy.createMeter('SUM'), quiet: await quiet.createMeter('SUM') };
});

const track = (who: 'noisy' | 'quiet', body: Record<string, unknown> = {}) =>
  weir.request('POST', '/api/v1/sdk/track', {
    apiKey: keys[who],
    body: { meter_token: meters[who].token, customer_external_id: 'acme', quantity: 1, ...body },
  });
const trackBatch = (raw: string) => weir.request('POST', '/api/v1/sdk/track/batch', { apiKey: keys.noisy, raw });

/** Tracks one event after the other for as long as something is under way, and returns how many were taken. Read in one go it is two. */
async function trackWhile(heavy: Promise<unknown>): Promise<number> {
  let isOver = false;
  const ended = heavy.finally(() => (isOver = true));
  let taken = 0;
  while (!isOver) {
    expect((await track('quiet')).status).toBe(201);
    taken += 1;
  }
  await ended;
  return taken;
}

describe('while a batch is read that is as heavy as can be', () => {
  const eventOf = (metadata: string) =>
    `{"meter_token":"${meters.noisy.token}","customer_external_id":"acme","quantity":1,"metadata":${metadata}}`;
  const batchOf = (metadata: string) => `{"events":[${Array(990).fill(eventOf(metadata)).join()}]}`;

  test.each([
    ['empty arrays, side by side', 201, `{"a":[${Array(2_722).fill('[]').join()}]}`],
    ['empty arrays, each in the other', 207, `{"a":${'['.repeat(4_080)}${']'.repeat(4_080)}}`],
    ['many keys', 201, `{"a":{${Array.from({ length: 900 }, (_, index) => `"k${index}":1`).join()}}}`],
  ])('of %s, the events of others go on being taken', async (_, status, metadata) => {
    const trackMeanwhile = async () => {
      // A key that is not known is looked up within a second, which a busy machine may need for this alone.
      await until(async () => (await track('quiet')).status === 201, 'the key of the other one is known');
      const heavy = trackBatch(batchOf(metadata));
      const taken = await trackWhile(heavy);
      expect((await heavy).status).toBe(status);
      return taken;
    };
    // Each waits for the disk, and the batch does not: a disk that is slow just then lets fewer through.
    expect(await bestOfThree(trackMeanwhile, (taken) => taken >= 6)).toBeGreaterThanOrEqual(6);
  });

  test('what is no JSON in one of its items is refused as a whole, and nothing of it is kept', async () => {
    const before = await weir.stagedEvents();
    for (const spoiled of [
      ',{"a":01}]}',
      ',{"a":[1}]}',
      ',]}',
      ',{"__proto__":1}]}',
      '],"events":[]}',
      ']} x',
      '\0]}',
    ]) {
      const answer = await trackBatch(`{"events":[${eventOf('{}')}${spoiled}`);
      expectProblem(answer, 400, 'malformed_json');
    }
    expect(await weir.stagedEvents()).toBe(before);
  });

  test('an item larger than an event of its own may be is refused before it is parsed', async () => {
    const raw = `{"events":[${eventOf('{}')},${'['.repeat(600_000)}${']'.repeat(600_000)}]}`;
    expectProblem(await trackBatch(raw), 413, 'payload_too_large');
  });

  test('events under another spelling of their name are found all the same', async () => {
    expect((await trackBatch(`{"\\u0065vents":[${eventOf('{}')}]}`)).status).toBe(201);
    const long = `{"\\u0065vents":[${Array(990)
      .fill(eventOf(`{"a":"${'x'.repeat(2_000)}"}`))
      .join()}]}`;
    expectProblem(await trackBatch(long), 413, 'payload_too_large');
  });
});

describe('while Postgres does not answer for a table', () => {
  /** A statement that is held up is not given up while a busy machine brings the others: the next would get its place. */
  const PATIENT = { DATABASE_STATEMENT_TIMEOUT_MS: '60000' };
  let locker: pg.Client;
  async function lock(table: string): Promise<void> {
    locker = new pg.Client({ connectionString: weir.databaseUrl });
    await locker.connect();
    await locker.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  }
  afterEach(() => locker.end());
  const waitingForLock = async (): Promise<number> => {
    const { rows } = await weir.pool.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return rows[0].n;
  };

  test('thousands of unknown meters take up two connections and no third, and the process stays ready', async () => {
    await track('quiet');
    await lock('meters');
    const batchOf = (name: string) => {
      const item = { customer_external_id: 'a', quantity: 1 };
      const events = Array.from({ length: 1_000 }, (_, index) => ({ ...item, meter_token: `mtr_${name}_${index}` }));
      return trackBatch(JSON.stringify({ events }));
    };
    const heavy = Promise.all(['one', 'two', 'three', 'four', 'five', 'six'].map(batchOf));
    await until(async () => (await waitingForLock()) >= 2, 'look-ups wait');
    expect((await weir.request('GET', '/readyz')).status).toBe(200);
    // Known keys and meters go on meanwhile.
    expect((await track('quiet')).status).toBe(201);
    expect(await waitingForLock()).toBe(2);
    await locker.query('ROLLBACK');
    for (const { status, body } of await heavy) {
      const answers = status === 503 ? [503] : body.data.map((item: { status: number }) => item.status);
      expect([[404], [503]]).toContainEqual([...new Set(answers)]);
    }
  });

  test('organizations that ask for more than their share wait without a slot, and are answered in their turn', async () => {
    const api = await weir.startApi({ REQUESTS_IN_FLIGHT_MAX: '10', READS_IN_FLIGHT_PER_CALLER: '1', ...PATIENT });
    const crowd = [noisy, await signUp(weir), await signUp(weir)];
    const get = (path: string, { session }: Organization) => weir.request('GET', path, { session, baseUrl: api.url });
    const waiting = async () =>
      /^weir_requests_waiting (\d+)$/m.exec(await (await fetch(`${api.url}/metrics`)).text())?.[1];
    const readBesideCrowd = async () => {
      await lock('features');
      const began = performance.now();
      const sinceMs = () => performance.now() - began;
      const reads: Promise<Answer>[] = [];
      const others: number[] = [];
      for (let round = 0; round < 6; round += 1) {
        reads.push(...crowd.map((each) => get('/api/v1/features', each)));
        others.push((await get('/api/v1/meters', quiet)).status);
      }
      let most: string | undefined;
      await until(async () => {
        most = await waiting();
        return most === '15' || sinceMs() > 5_000;
      }, 'all but one of each wait');
      const wrong = { email: 'nobody@example.com', password: 'not the password' };
      const guess = await weir.request('POST', '/api/v1/auth/login', { body: wrong, baseUrl: api.url });
      await locker.query('ROLLBACK');
      const ms = sinceMs();
      const inTurn = (await Promise.all(reads)).map(({ status }) => status);
      await locker.end();
      return { ms, others, most, guess, inTurn, left: await waiting() };
    };
    // Who has waited for five seconds is refused: what takes a busy machine as long says nothing.
    const { others, most, guess, inTurn, left } = await bestOfThree(readBesideCrowd, ({ ms }) => ms < 4_500);
    expect(new Set(others)).toEqual(new Set([200]));
    expect(most).toBe('15');
    expectProblem(guess, 401, 'unauthenticated');
    expect(new Set(inTurn)).toEqual(new Set([200]));
    expect(left).toBe('0');
    await api.close();
  });

  test('a client that hangs up while it waits for its share waits no longer', async () => {
    const api = await weir.startApi({ READS_IN_FLIGHT_PER_CALLER: '1', ...PATIENT });
    await lock('features');
    const hangUp = new AbortController();
    const read = (signal?: AbortSignal) =>
      fetch(`${api.url}/api/v1/features`, {
        headers: { cookie: `access_token=${noisy.session}` },
        ...(signal !== undefined && { signal }),
      });
    const first = read();
    await until(async () => (await waitingForLock()) >= 1, 'the first one is worked on');
    const gone = Array.from({ length: 5 }, () => read(hangUp.signal).catch(() => {}));
    const waiting = async () =>
      /^weir_requests_waiting (\d+)$/m.exec(await (await fetch(`${api.url}/metrics`)).text())?.[1];
    await until(async () => (await waiting()) === '5', 'five wait');
    hangUp.abort();
    await Promise.all(gone);
    await until(async () => (await waiting()) === '0', 'none waits');
    expect(await waitingForLock()).toBe(1);
    await locker.query('ROLLBACK');
    expect((await first).status).toBe(200);
    await api.close();
  });

  test('the reads of one organization leave connections to the others', async () => {
    await lock(ROLLUPS.customerUsageDays.table);
    const read = () =>
      weir.request('GET', `/api/v1/meters/${meters.noisy.id}/usage?customer_external_id=acme`, { apiKey: keys.noisy });
    const reads = Promise.all(Array.from({ length: 14 }, read));
    await until(async () => (await waitingForLock()) >= 2, 'reads wait');
    const others = await Promise.all(
      Array.from({ length: 4 }, () => weir.request('GET', '/api/v1/features', { apiKey: keys.quiet })),
    );
    expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await waitingForLock()).toBe(2);
    await locker.query('ROLLBACK');
    expect(new Set((await reads).map(({ status }) => status))).toEqual(new Set([200]));
  });
});

test('all that an organization and its customers read at once leaves connections to the others', async () => {
  const api = await weir.startApi({ DATABASE_STATEMENT_TIMEOUT_MS: '60000' });
  const request = (path: string, options: object) =>
    weir.request('GET', `/api/v1${path}`, { baseUrl: api.url, ...options });
  const made = await weir.request('POST', '/api/v1/widget/token', {
    apiKey: keys.noisy,
    body: { customer_external_id: 'acme' },
  });
  const widget = { headers: { authorization: `Bearer ${made.body.token}` } };
  const locker = new pg.Client({ connectionString: weir.databaseUrl });
  await locker.connect();
  await locker.query('BEGIN; LOCK TABLE subscriptions, rejected_events IN ACCESS EXCLUSIVE MODE');
  const held = async (): Promise<number> => {
    const { rows } = await weir.pool.query(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return rows[0].n;
  };
  const crowd = (path: string, options: object) => Array.from({ length: 20 }, () => request(path, options));
  const reads = crowd('/widget/billing-period', widget);
  try {
    await until(async () => (await held()) === 2, 'two of the widget are worked on');
    reads.push(...crowd('/events', { apiKey: keys.noisy }));
    await until(async () => (await held()) === 4, 'and two of the keys');
    reads.push(...crowd('/entitlements?customer_external_id=acme', { apiKey: keys.noisy }));
    await until(async () => (await held()) >= 5, 'and quick reads');
    // The guards of people ask by the connections that reads have, too.
    for (let n = 0; n < 10; n += 1) expect((await request('/features', { session: quiet.session })).status).toBe(200);
    expect(await held()).toBe(5);
  } finally {
    await locker.end();
  }
  // Who has waited for five seconds is told to come again.
  expect((await Promise.all(reads)).filter(({ status }) => status >= 500)).toEqual([]);
  await api.close();
});

describe('a caller that reads', () => {
  beforeAll(() => weir.startWorker());
  const chart = (query: string, token: string): Promise<Answer> =>
    weir.request('GET', `/api/v1/widget/meters/${meters.noisy.id}/usage?${query}`, {
      headers: { authorization: `Bearer ${token}` },
    });
  /** A widget shows a customer only what it has used. */
  async function widgetToken(customer: string): Promise<string> {
    expect((await track('noisy', { customer_external_id: customer })).status).toBe(201);
    await weir.drained();
    const answer = await weir.request('POST', '/api/v1/widget/token', {
      apiKey: keys.noisy,
      body: { customer_external_id: customer },
    });
    return answer.body.token;
  }

  test('may load 20 charts of 720 hours at once, also from its own keys', async () => {
    const token = await widgetToken('a page');
    const hours = 'group_by=hour&start_date=2026-01-01&end_date=2026-01-30&timezone=Europe/Berlin';
    const charts = await Promise.all(Array.from({ length: 20 }, () => chart(hours, token)));
    expect(new Set(charts.map(({ status }) => status))).toEqual(new Set([200]));
    const path = `/api/v1/meters/${meters.noisy.id}/usage?${hours}`;
    const own = await Promise.all(Array.from({ length: 20 }, () => weir.request('GET', path, { apiKey: keys.noisy })));
    expect(new Set(own.map(({ status, body }) => `${status}: ${body.grouped_data.length}`))).toEqual(
      new Set(['200: 720']),
    );
  });

  test('of more than it may is told when to come again, and other callers hear nothing of it', async () => {
    const api = await weir.startApi({ READ_BUCKETS_PER_CALLER: '1000', READS_IN_FLIGHT_PER_CALLER: '1' });
    const token = await widgetToken('insatiable');
    const path = `/api/v1/widget/meters/${meters.noisy.id}/usage?group_by=hour&start_date=2025-01-01&end_date=2026-01-30`;
    const read = () => weir.request('GET', path, { baseUrl: api.url, headers: { authorization: `Bearer ${token}` } });
    const large = await Promise.all(Array.from({ length: 12 }, read));
    const refused = large.filter(({ status }) => status === 429);
    expect(large.filter(({ status }) => status === 200).length).toBe(1);
    expect(refused.length).toBe(11);
    for (const each of refused) {
      expectProblem(each, 429, 'rate_limited');
      expect(Number(each.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const features = { session: noisy.session, baseUrl: api.url };
    expect((await weir.request('GET', '/api/v1/features', features)).status).toBe(200);
    await api.close();
  });
});

test('a large answer costs its caller as much as a chart of that size, and other callers nothing', async () => {
  const limits = Array.from({ length: 100 }, (_, index) => ({ up_to: index < 99 ? String(index + 1) : null }));
  const tiers = limits.map(({ up_to }) => ({ up_to, unit_price: '0.000123456789', flat_fee: '1.25' }));
  const charges = [];
  for (let n = 0; n < 20; n += 1) {
    const meter = await noisy.createMeter('SUM');
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
  const made = await weir.request('POST', '/api/v1/plans', { session: noisy.session, body });
  expect(made.status).toBe(201);
  const path = `/api/v1/plans/${made.body.id}`;
  const whole = await weir.request('GET', path, { session: noisy.session });
  expect(whole.body.charges).toHaveLength(20);
  // Whoever has it already saves no more than to be sent it.
  const manners = [
    { headers: {}, status: 200 },
    { headers: { 'if-none-match': whole.headers.get('etag') ?? '' }, status: 304 },
  ];
  for (const { headers, status } of manners) {
    // A hundred buckets a second: what is owed for one such answer is more than five seconds bring.
    const api = await weir.startApi({ READ_BUCKETS_PER_CALLER: '100', READS_IN_FLIGHT_PER_CALLER: '1' });
    const read = ({ session }: Organization, of: string) =>
      weir.request('GET', of, { session, headers, baseUrl: api.url });
    expect((await read(noisy, path)).status).toBe(status);
    expectProblem(await read(noisy, path), 429, 'rate_limited');
    expect((await read(quiet, '/api/v1/plans')).status).toBe(200);
    await api.close();
  }
});

test('an honest retry is known again, whatever hashes its metadata holds and however it is spelt', async () => {
  const id = '8d7e2f31-1e4f-4d6b-9c3a-2b1f0e9d8c7b';
  const event = (metadata: string) =>
    weir.request('POST', '/api/v1/sdk/track', {
      apiKey: keys.quiet,
      raw: `{"meter_token":"${meters.quiet.token}","customer_external_id":"acme","quantity":1,"idempotency_key":"honest","metadata":${metadata}}`,
    });
  const first = await event(`{"id":"${id}","card":"4111111111111111","amount":1.50}`);
  expect(first.status).toBe(201);
  const again = await event(`{ "amount": 1.5, "card": "4111111111111111", "id": "\\u0038${id.slice(1)}" }`);
  expectProblem(again, 409, 'duplicate_event');
  expect(again.body.id).toBe(first.body.id);
  expectProblem(await event(`{"id":"${id}","card":"4111111111111111","amount":1.51}`), 422, 'idempotency_key_reused');
});
