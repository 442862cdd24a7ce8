import { WeirClient } from '@weir/sdk';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let admin: Organization;
let apiKey: string;
let meter: { id: string; token: string };

beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
});
beforeEach(async () => {
  meter = await admin.createMeter('SUM');
});

const eventOf = (more: Record<string, unknown> = {}) => ({
  meter_token: meter.token,
  customer_external_id: 'acme',
  quantity: 1,
  ...more,
});
const trackBatch = (events: unknown, key = apiKey) =>
  weir.request('POST', '/api/v1/sdk/track/batch', { apiKey: key, body: { events } });

/** Ids of the meter's recorded events, and the sum of their quantities, once the queue is empty. */
async function recorded(): Promise<{ ids: string[]; sum: string | null }> {
  await weir.drained();
  const { rows } = await weir.pool.query<{ ids: string[] | null; sum: string | null }>(
    'SELECT array_agg(id::text ORDER BY id) AS ids, sum(quantity)::text AS sum FROM events WHERE meter_id = $1',
    [meter.id],
  );
  return { ids: rows[0]?.ids ?? [], sum: rows[0]?.sum ?? null };
}
const idsOf = (data: { id: string }[]) => data.map(({ id }) => id).toSorted();

describe('a batch of good events', () => {
  test('is answered with 201 and one id for each, in the order sent', async () => {
    const quantities = [1, 2, 3];
    const answer = await trackBatch(quantities.map((quantity) => eventOf({ quantity })));
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ data: quantities.map(() => ({ status: 201, id: expect.any(String) })) });
    await weir.drained();
    for (const [index, { id }] of answer.body.data.entries()) {
      const receipt = await weir.request('GET', `/api/v1/events/${id}`, { apiKey });
      expect(receipt.body).toMatchObject({ status: 'recorded', quantity: String(index + 1) });
    }
  });

  test('of 1000 events is recorded whole', async () => {
    const answer = await trackBatch(Array.from({ length: 1000 }, (_, index) => eventOf({ quantity: index + 1 })));
    expect(answer.status).toBe(201);
    expect(new Set(idsOf(answer.body.data)).size).toBe(1000);
    expect(await recorded()).toEqual({ ids: idsOf(answer.body.data), sum: '500500' });
  });

  test('of one event is as good as tracking it alone', async () => {
    const answer = await trackBatch([eventOf({ quantity: 0.1 })]);
    expect(answer.status).toBe(201);
    expect(await recorded()).toEqual({ ids: idsOf(answer.body.data), sum: '0.1' });
  });

  test('keeps every digit of every quantity', async () => {
    const raw = ['0.1234567890123456789', '1.10', '1e3']
      .map((quantity) => JSON.stringify(eventOf()).replace('"quantity":1', `"quantity":${quantity}`))
      .join(', ');
    const answer = await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, raw: `{ "events" : [ ${raw} ] }` });
    expect(answer.status).toBe(201);
    expect((await recorded()).sum).toBe('1001.2234567890123456789');
  });
});

describe('every item is judged by itself', () => {
  test('bad items are refused in their places, good ones beside them are taken', async () => {
    const answer = await trackBatch([
      eventOf({ quantity: 1 }),
      eventOf({ quantity: 0 }),
      'not an event',
      null,
      [],
      eventOf({ meter_token: 'mtr_nobody' }),
      eventOf({ quantity: 2 }),
      eventOf({ timestamp: 'now' }),
      eventOf({ quantity: 4 }),
    ]);
    expect(answer.status).toBe(207);
    const taken = { status: 201, id: expect.any(String) };
    const refused = (status: number, code: string) => ({ status, code, detail: expect.stringMatching(/\S/) });
    const invalid = refused(422, 'invalid_request');
    const unknown = refused(404, 'meter_not_found');
    expect(answer.body.data).toEqual([taken, invalid, invalid, invalid, invalid, unknown, taken, invalid, taken]);
    expect((await recorded()).sum).toBe('7');
  });

  test('an item with several faults tells of them in its detail, which has no list beside it', async () => {
    const answer = await trackBatch([eventOf({ quantity: 0, customer_external_id: '' }), { a: 1, quantity: 'x' }, 7]);
    const details = answer.body.data.map(({ detail }: { detail: string }) => detail);
    for (const detail of details) expect(detail).not.toMatch(/listed|errors/);
    for (const name of ['quantity', 'customer_external_id']) expect(details[0]).toContain(name);
    expect(details[1]).toMatch(/; and 1 more\.$/);
    for (const item of answer.body.data) expect(Object.keys(item).toSorted()).toEqual(['code', 'detail', 'status']);
  });

  test('a batch in which no item is good is a 207 too, and says of each what is wrong', async () => {
    const answer = await trackBatch([eventOf({ quantity: -1 }), eventOf({ meter_token: 'mtr_nobody' })]);
    expect(answer.status).toBe(207);
    expect(answer.body.data).toMatchObject([
      { status: 422, code: 'invalid_request', detail: expect.stringContaining('quantity') },
      { status: 404, code: 'meter_not_found', detail: expect.stringContaining('meter_token') },
    ]);
  });

  test('a meter of another organization is one that does not exist', async () => {
    const neighbour = await signUp(weir);
    const theirs = await neighbour.createMeter('SUM');
    const answer = await trackBatch([eventOf({ meter_token: theirs.token }), eventOf()]);
    expect(answer.body.data).toMatchObject([{ status: 404, code: 'meter_not_found' }, { status: 201 }]);
    await weir.drained();
    expect((await weir.pool.query('SELECT FROM events WHERE meter_id = $1', [theirs.id])).rowCount).toBe(0);
  });
});

describe('idempotency keys in a batch', () => {
  test('the second of two equal events in one batch is a 409 with the id of the first', async () => {
    const answer = await trackBatch([
      eventOf({ idempotency_key: 'twice' }),
      eventOf({ idempotency_key: 'twice' }),
      eventOf({ idempotency_key: 'once' }),
    ]);
    expect(answer.status).toBe(207);
    const [first, second, third] = answer.body.data;
    expect(second).toMatchObject({ status: 409, code: 'duplicate_event', id: first.id });
    expect([first.status, third.status]).toEqual([201, 201]);
    expect(await recorded()).toEqual({ ids: idsOf([first, third]), sum: '2' });
  });

  test('the second of two different events with one key is a 422', async () => {
    const answer = await trackBatch([
      eventOf({ idempotency_key: 'reused', quantity: 1 }),
      eventOf({ idempotency_key: 'reused', quantity: 2 }),
    ]);
    expect(answer.body.data).toMatchObject([{ status: 201 }, { status: 422, code: 'idempotency_key_reused' }]);
    expect((await recorded()).sum).toBe('1');
  });

  test('a batch that is sent again counts nothing twice, and answers every item with its first id', async () => {
    const events = Array.from({ length: 1000 }, (_, index) => eventOf({ idempotency_key: `again ${index}` }));
    const first = await trackBatch(events);
    const again = await trackBatch(events);
    expect([first.status, again.status]).toEqual([201, 207]);
    expect(again.body.data).toEqual(
      first.body.data.map(({ id }: { id: string }) => ({
        status: 409,
        id,
        code: 'duplicate_event',
        detail: expect.stringMatching(/\S/),
      })),
    );
    expect((await recorded()).sum).toBe('1000');
  });

  test('of two equal batches sent at the same moment each event is taken from one of them', async () => {
    const events = Array.from({ length: 600 }, (_, index) => eventOf({ idempotency_key: `race ${index}` }));
    const answers = await Promise.all([trackBatch(events), trackBatch(events), trackBatch(events)]);
    const items: { status: number; id: string }[] = answers.flatMap((answer) => answer.body.data);
    expect(items.filter(({ status }) => status === 201).length).toBe(600);
    expect(items.filter(({ status }) => status === 409).length).toBe(1200);
    expect(new Set(idsOf(items)).size).toBe(600);
    expect((await recorded()).sum).toBe('600');
  });
});

describe('the batch as a whole is refused', () => {
  test.each<[string, unknown]>([
    ['without any event', []],
    ['of 1001 events', Array.from({ length: 1001 }, () => ({}))],
    ['whose events are no array', { 0: {} }],
    ['without events', undefined],
  ])('%s', async (_, events) => {
    expectProblem(await trackBatch(events), 422, 'invalid_request');
  });

  test('with a field beside the events', async () => {
    const body = { events: [eventOf()], idempotency_key: 'k' };
    expectProblem(await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, body }), 422, 'invalid_request');
  });

  test('with the header Idempotency-Key, which is for single events', async () => {
    const answer = await weir.request('POST', '/api/v1/sdk/track/batch', {
      apiKey,
      body: { events: [eventOf()] },
      headers: { 'idempotency-key': 'k' },
    });
    expectProblem(answer, 422, 'invalid_request');
  });

  test('with events that stand twice', async () => {
    const raw = `{"events":[${JSON.stringify(eventOf())}],"events":[]}`;
    const answer = await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, raw });
    expectProblem(answer, 400, 'malformed_json');
  });

  test.each([
    ['is no JSON', () => '{"a":01}', 400, 'malformed_json'],
    ['would change what objects inherit', () => '{"__proto__":1}', 400, 'malformed_json'],
    ['is too large', () => JSON.stringify('x'.repeat(1_100_000)), 413, 'payload_too_large'],
  ])('with an item that %s, which the refusal names', async (_, item, status, code) => {
    const raw = `{"events":[${JSON.stringify(eventOf())},${item()}]}`;
    const answer = await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, raw });
    expectProblem(answer, status, code);
    expect(answer.body.errors).toEqual([{ path: 'events[1]', message: expect.any(String) }]);
  });

  test.each(['', '{"events":[{}', '[]'])('as %j, where no item is to blame and none is named', async (raw) => {
    const { body } = await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, raw });
    expect(JSON.stringify(body.errors ?? [])).not.toContain('events[');
  });

  test('and a client that sends it again without such an item loses none of the others', async () => {
    const client = new WeirClient({ baseUrl: weir.baseUrl, apiKey });
    const spoilt = [JSON.parse('{"__proto__":1}') as object, { text: 'x'.repeat(1_100_000) }];
    const outcomes = await client.trackBatch([
      eventOf(),
      ...spoilt.map((metadata) => eventOf({ metadata })),
      eventOf(),
    ]);
    expect(outcomes.map((outcome) => ('error' in outcome ? outcome.error.code : 'kept'))).toEqual([
      'kept',
      'malformed_json',
      'payload_too_large',
      'kept',
    ]);
    expect((await recorded()).sum).toBe('2');
  });

  test('without a key that may write', async () => {
    const reader = await admin.createKey('usage.read');
    expectProblem(await trackBatch([eventOf()], reader), 403, 'missing_scope');
    const answer = await weir.request('POST', '/api/v1/sdk/track/batch', { body: { events: [eventOf()] } });
    expectProblem(answer, 401, 'unauthenticated');
    expect((await recorded()).ids).toEqual([]);
  });

  test('with a key that was deleted, and nothing of it is kept', async () => {
    const created = await admin.ask('POST', '/api-keys', { name: 'short-lived', scopes: ['usage.write'] });
    const { key, id } = created.body;
    expect((await trackBatch([eventOf()], key)).status).toBe(201);
    await admin.ask('DELETE', `/api-keys/${id}`);
    expectProblem(await trackBatch([eventOf(), eventOf()], key), 401, 'unauthenticated');
    expect((await recorded()).sum).toBe('1');
  });
});

test('a batch may be ten times larger than a single event', async () => {
  const metadata = { note: 'x'.repeat(8_000) };
  const answer = await trackBatch(Array.from({ length: 1000 }, () => eventOf({ metadata })));
  expect(answer.status).toBe(201);
  expect((await recorded()).sum).toBe('1000');
});
