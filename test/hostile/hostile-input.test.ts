// What is not a valid event is refused with the right status and a problem document, leaves nothing behind, and does not
// keep the same idempotency key from being used for a good event afterwards. What no endpoint takes is in
// hostile-endpoints.test.ts, broken HTTP in hostile-http.test.ts.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { ahead, keysOf, nested, notEvents, objectOf, type Literals } from '../support/hostile/events.ts';
import { countStagedEvents, signUp, type Organization } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let apiKey: string;
let token: string;
let stagedBefore = 0;

beforeAll(async () => {
  // Without a worker what was staged stays staged, and can be counted.
  admin = await signUp(weir);
  token = (await admin.createMeter('SUM')).token;
  apiKey = await admin.createKey();
});
beforeEach(async () => {
  stagedBefore = await stagedEvents();
});

function eventWith(idempotencyKey: string, literals: Literals = {}): string {
  return objectOf({
    meter_token: JSON.stringify(token),
    customer_external_id: '"acme"',
    quantity: '1',
    idempotency_key: JSON.stringify(idempotencyKey),
    ...literals,
  });
}

const track = (raw: string | Uint8Array) => weir.request('POST', '/api/v1/sdk/track', { apiKey, raw });
const trackBatch = (raw: string | Uint8Array) => weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, raw });
const stagedEvents = () => countStagedEvents(weir.redis, weir.keys);

/** Beside the neighbours that were taken nothing is left of a refused event, and its key is as good as new. */
async function expectNothingKept(idempotencyKey: string, neighbours = 0): Promise<void> {
  expect(await stagedEvents()).toBe(stagedBefore + neighbours);
  expect(await weir.redis.exists(await weir.claim(admin.id, idempotencyKey))).toBe(0);
  expect((await track(eventWith(idempotencyKey))).status).toBe(201);
}

describe.each(notEvents)('an event with %s', (title, literals, status = 422, code = 'invalid_request') => {
  test('is refused by itself', async () => {
    const key = `alone, ${title}`;
    expectProblem(await track(eventWith(key, literals)), status, code);
    await expectNothingKept(key);
  });

  test('is refused in a batch, and its neighbours are taken', async () => {
    const key = `in a batch, ${title}`;
    const items = [eventWith(`before ${key}`), eventWith(key, literals), eventWith(`after ${key}`)];
    const answer = await trackBatch(`{"events":[${items.join(' , ')}]}`);
    expect(answer.status).toBe(207);
    expect(answer.body.data).toEqual([
      { status: 201, id: expect.any(String) },
      { status, code, detail: expect.stringMatching(/\S/) },
      { status: 201, id: expect.any(String) },
    ]);
    await expectNothingKept(key, 2);
  });
});

test('unusual numbers and texts that are valid are taken as they were sent', async () => {
  const literals: Literals[] = [
    { quantity: '0.1' },
    { quantity: '9007199254740991' },
    { quantity: '5e-324' },
    { quantity: '1.0E+2' },
    { customer_external_id: `"${'👋'.repeat(255)}"` },
    { idempotency_key: `"${'é'.repeat(255)}"` },
    { metadata: keysOf(50) },
    { metadata: nested(5) },
    { metadata: `{"a":"${'x'.repeat(8192 - 8)}"}` },
    { metadata: '{"constructor":{"prototype":1},"toString":2}' },
    { timestamp: ahead(23.9) },
    { timestamp: '"2000-01-01T00:00:00Z"' },
  ];
  for (const [index, literal] of literals.entries()) {
    expect(await track(eventWith(`valid ${index}`, literal))).toMatchObject({ status: 201 });
  }
});

test('after all of this, exactly the events that were staged are recorded, and none is rejected', async () => {
  expect(stagedBefore).toBeGreaterThan(200);
  await weir.startWorker();
  await weir.drained();
  const { rows } = await weir.pool.query(
    'SELECT count(*)::int AS events, count(DISTINCT idempotency_key)::int AS keys FROM events',
  );
  expect(rows).toEqual([{ events: stagedBefore, keys: stagedBefore }]);
  expect((await weir.pool.query('SELECT FROM rejected_events')).rowCount).toBe(0);
});
