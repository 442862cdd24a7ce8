// Too much of everything: what is refused, in which order, and that tracking goes first when there is not enough for all.

import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let apiKey: string;
let token: string;

beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
  token = (await admin.createMeter('SUM')).token;
});

interface Track {
  baseUrl?: string;
  apiKey?: string;
  meterToken?: string;
}
const track = (options: Track = {}): Promise<Answer> =>
  weir.request('POST', '/api/v1/sdk/track', {
    apiKey: options.apiKey ?? apiKey,
    baseUrl: options.baseUrl ?? weir.baseUrl,
    body: { meter_token: options.meterToken ?? token, customer_external_id: 'acme', quantity: 1 },
  });
const readFeatures = (baseUrl: string) => weir.request('GET', '/api/v1/features', { session: admin.session, baseUrl });
const metric = async (baseUrl: string, line: RegExp): Promise<number> =>
  Number(line.exec(await (await fetch(`${baseUrl}/metrics`)).text())?.[1] ?? Number.NaN);

test('when as many batches wait as may, events are recorded directly until a worker has recorded some', async () => {
  const api = await weir.startApi({ QUEUE_BATCHES_MAX: '3' });
  const isDirect = () => metric(api.url, /^weir_direct_way (\d)$/m);
  await until(async () => {
    expect((await track({ baseUrl: api.url })).status).toBe(201);
    return (await isDirect()) === 1;
  }, 'no more is staged');
  const staged = await weir.redis.zcard(weir.keys.staged);
  expect(staged).toBeGreaterThanOrEqual(3);
  const events = await weir.stagedEvents();

  const direct = await track({ baseUrl: api.url });
  const receipt = await weir.request('GET', `/api/v1/events/${direct.body.id}`, { apiKey });
  expect([direct.status, receipt.body.status]).toEqual([201, 'recorded']);
  expect(await weir.stagedEvents()).toBe(events);
  // The API looks every now and then; the last batch may have come after it looked.
  const seen = async () => (await metric(api.url, /^weir_queue_batches (\d+)$/m)) === staged;
  await until(seen, 'the metric says how many batches wait');
  expect((await readFeatures(api.url)).status).toBe(200);

  const worker = await weir.startWorker();
  await weir.drained();
  await until(async () => (await isDirect()) === 0, 'events are staged again');
  await worker.close();
  await api.close();
});

describe('an event loop that is late', () => {
  let isBusy = false;
  afterEach(() => (isBusy = false));

  /** Keeps the event loop of this process, and so of the API in it, from turning more often than every `ms`. */
  async function occupy(ms: number): Promise<void> {
    isBusy = true;
    while (isBusy) {
      for (const end = performance.now() + ms; performance.now() < end;);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  test('sheds reading and admin requests first, tracking when it is far too late, never health', async () => {
    const api = await weir.startApi({ EVENT_LOOP_DELAY_MS_MAX: '40' });
    const statuses = async () => ({
      admin: (await readFeatures(api.url)).status,
      tracking: (await track({ baseUrl: api.url })).status,
      health: (await weir.request('GET', '/healthz', { baseUrl: api.url })).status,
    });
    expect(await statuses()).toEqual({ admin: 200, tracking: 201, health: 200 });

    const late = occupy(80);
    // How late it is, is a mean of the last second: on a busy machine a look may find it later than that.
    const untilAnswered = (admin: number, tracking: number) =>
      until(async () => {
        const seen = await statuses();
        expect(seen.health).toBe(200);
        return seen.admin === admin && seen.tracking === tracking;
      }, `admin requests are answered ${admin}, and tracking ${tracking}`);
    await untilAnswered(503, 201);
    isBusy = false;
    await late;

    const farTooLate = occupy(300);
    await until(async () => (await track({ baseUrl: api.url })).status === 503, 'tracking is shed');
    const refused = await track({ baseUrl: api.url });
    expectProblem(refused, 503, 'unavailable');
    expect(refused.body.outcome).toBe('not_accepted');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await statuses()).health).toBe(200);
    isBusy = false;
    await farTooLate;

    await until(async () => (await readFeatures(weir.baseUrl)).status === 200, 'the other API serves again');
    await untilAnswered(200, 201);
    expect(await metric(api.url, /^weir_shed_requests_total\{reason="event_loop"\} (\d+)$/m)).toBeGreaterThan(2);
    await api.close();
  });

  test('that stands still from one look at it to the next is as late as that, which may be allowed', async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      for (const end = performance.now() + 1_100; performance.now() < end;);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await readFeatures(weir.baseUrl)).status).toBe(200);
  });
});

describe('admin traffic cannot starve tracking', () => {
  test('while every connection of readers is taken, a key and a meter that are new can be used at once', async () => {
    const api = await weir.startApi({ DATABASE_CONNECTIONS: '2', REQUESTS_IN_FLIGHT_MAX: '8' });
    const newKey = await admin.createKey();
    const newMeter = await admin.createMeter('SUM');
    const holder = await weir.pool.connect();
    const stuck: Promise<Answer>[] = [];
    try {
      await holder.query('BEGIN; LOCK TABLE features IN ACCESS EXCLUSIVE MODE');
      let answered = 0;
      for (let reader = 0; reader < 8; reader += 1) stuck.push(readFeatures(api.url).finally(() => (answered += 1)));
      // Those under way are stuck behind the lock, or wait for a connection; more are not let in to wait with them.
      await until(async () => (await readFeatures(api.url)).status === 503, 'there are as many as may be under way');
      const shed = await readFeatures(api.url);
      expectProblem(shed, 503, 'unavailable');
      expect(shed.headers.get('retry-after')).toBe('1');

      const tracked = await track({ baseUrl: api.url, apiKey: newKey, meterToken: newMeter.token });
      expect(tracked.status).toBe(201);
      // Behind the readers it would have waited for a connection for as long as they.
      expect(answered).toBe(0);
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
    }
    expect((await Promise.all(stuck)).filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    await until(async () => (await readFeatures(api.url)).status === 200, 'there is room for those who read');
    expect(await metric(api.url, /^weir_shed_requests_total\{reason="requests"\} (\d+)$/m)).toBeGreaterThan(1);
    await api.close();
  });

  test('a crowd that guesses passwords is hashed for one by one, and tracking is answered meanwhile', async () => {
    const api = await weir.startApi();
    const guesses = Array.from({ length: 40 }, (_, index) =>
      weir.request('POST', '/api/v1/auth/login', {
        baseUrl: api.url,
        body: { email: `nobody-${index}@example.com`, password: 'wrong password' },
      }),
    );
    let guessed = false;
    const all = Promise.all(guesses).finally(() => (guessed = true));
    let tracked = 0;
    while (!guessed) {
      expect((await track({ baseUrl: api.url })).status).toBe(201);
      tracked += 1;
    }
    expect(new Set((await all).map(({ status }) => status))).toEqual(new Set([401]));
    // Each guess takes a core for some 20 ms; hashed all at once, they would leave room for a few requests only.
    expect(tracked).toBeGreaterThan(40);
    await api.close();
  });
});
