// What is not a valid event is refused with the right status and a problem document, leaves nothing behind, and does not
// keep the same idempotency key from being used for a good event afterwards. Broken HTTP is in hostile-http.test.ts.

import { hash128 } from '@weir/shared/queue';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectProblem } from './expect-problem.ts';
import { signUp, startWeir, type Organization, type Weir } from './harness.ts';

let weir: Weir;
let admin: Organization;
let apiKey: string;
let token: string;
let stagedBefore = 0;
let slugs = 0;

beforeAll(async () => {
  // Without a worker what was staged stays staged, and can be counted.
  weir = await startWeir({ withWorker: false });
  admin = await signUp(weir);
  token = (await admin.createMeter('SUM')).token;
  apiKey = await admin.createKey();
});
beforeEach(async () => {
  stagedBefore = await stagedEvents();
});
afterAll(() => weir.close());

type Literals = Record<string, string | undefined>;

/** The JSON text of an object, from the text of each value; undefined leaves a key out. */
function objectOf(literals: Literals): string {
  const members = Object.entries(literals).filter(([, literal]) => literal !== undefined);
  return `{${members.map(([key, literal]) => `"${key}":${literal}`).join(',')}}`;
}

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
const stagedEvents = async () => {
  const batches = await weir.redis.zrangebyscore(weir.keys.staged, '-inf', '+inf');
  const sizes = await Promise.all(batches.map((batch) => weir.redis.hlen(weir.keys.batch(batch))));
  return sizes.reduce((sum, size) => sum + size, 0);
};

/** Beside the neighbours that were taken nothing is left of a refused event, and its key is as good as new. */
async function expectNothingKept(idempotencyKey: string, neighbours = 0): Promise<void> {
  expect(await stagedEvents()).toBe(stagedBefore + neighbours);
  expect(await weir.redis.exists(weir.keys.claim(admin.id, hash128(idempotencyKey)))).toBe(0);
  expect((await track(eventWith(idempotencyKey))).status).toBe(201);
}

const invalid = 'invalid_request';
const keysOf = (count: number) => objectOf(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, '1'])));
const nested = (levels: number) => '{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1);
const ahead = (hours: number) => JSON.stringify(new Date(Date.now() + hours * 3_600_000).toISOString());

// Well-formed JSON, not a valid event. Title, the members that differ from a good event, and what is answered.
const notEvents: [string, Literals, number?, string?][] = [
  ['no meter_token', { meter_token: undefined }],
  ['an empty meter_token', { meter_token: '""' }],
  ['a meter_token that is null', { meter_token: 'null' }],
  ['a meter_token that nobody has', { meter_token: '"mtr_nobody"' }, 404, 'meter_not_found'],
  ['a meter_token of 256 characters', { meter_token: `"${'x'.repeat(256)}"` }],
  ['no customer', { customer_external_id: undefined }],
  ['an empty customer', { customer_external_id: '""' }],
  ['a customer of 256 characters', { customer_external_id: `"${'x'.repeat(256)}"` }],
  ['a customer that is a number', { customer_external_id: '42' }],
  ['a NUL character in the customer', { customer_external_id: '"a\\u0000b"' }],
  ['half of a surrogate pair in the customer', { customer_external_id: '"\\ud83d"' }],
  ['no quantity', { quantity: undefined }],
  ['a quantity of 0', { quantity: '0' }],
  ['a quantity of -0', { quantity: '-0' }],
  ['a quantity of -1', { quantity: '-1' }],
  ['a quantity that underflows to 0', { quantity: '1e-400' }],
  ['a quantity that overflows', { quantity: '1e400' }],
  ['a quantity one beyond the limit', { quantity: '9007199254740992' }],
  ['a quantity that a float would round into the limit', { quantity: '9007199254740993' }],
  ['a quantity a fraction beyond the limit', { quantity: '9007199254740991.5' }],
  ['a quantity a smaller fraction beyond the limit', { quantity: '9007199254740991.4' }],
  ['a quantity of more than 400 digits', { quantity: `0.${'1'.repeat(400)}` }],
  ['a quantity that is a text', { quantity: '"1"' }],
  ['a quantity that is a hexadecimal text', { quantity: '"0x10"' }],
  ['a quantity that is true', { quantity: 'true' }],
  ['a quantity that is null', { quantity: 'null' }],
  ['a quantity that is an array', { quantity: '[1]' }],
  ['a quantity that is an object', { quantity: '{"valueOf":1}' }],
  ['an empty timestamp', { timestamp: '""' }],
  ['a timestamp that is null', { timestamp: 'null' }],
  ['a timestamp that is a number', { timestamp: '1767225600' }],
  ['a timestamp without an offset', { timestamp: '"2026-01-31T09:30:00"' }],
  ['a timestamp that is only a date', { timestamp: '"2026-01-31"' }],
  ['the 30th of February', { timestamp: '"2026-02-30T00:00:00Z"' }],
  ['a leap second', { timestamp: '"2016-12-31T23:59:60Z"' }],
  ['24 o’clock', { timestamp: '"2026-01-31T24:00:00Z"' }],
  ['the year 0', { timestamp: '"0000-01-01T00:00:00Z"' }],
  ['the year 1999', { timestamp: '"1999-12-31T23:59:59Z"' }],
  ['a year of five digits', { timestamp: '"10000-01-01T00:00:00Z"' }],
  ['the timestamp now', { timestamp: '"now"' }],
  ['the timestamp infinity', { timestamp: '"infinity"' }],
  ['a timestamp more than 24 hours ahead', { timestamp: ahead(25) }],
  ['an unknown field', { note: '"x"' }],
  ['a misspelt idempotency_key', { idempotencyKey: '"k"' }],
  ['an empty idempotency_key', { idempotency_key: '""' }],
  ['an idempotency_key that is null', { idempotency_key: 'null' }],
  ['an idempotency_key of 256 characters', { idempotency_key: `"${'x'.repeat(256)}"` }],
  ['a NUL character in the idempotency_key', { idempotency_key: '"a\\u0000"' }],
  ['metadata that is null', { metadata: 'null' }],
  ['metadata that is an array', { metadata: '[]' }],
  ['metadata that is a text', { metadata: '"{}"' }],
  ['metadata of 51 keys', { metadata: keysOf(51) }],
  ['metadata of 8 KiB and one byte', { metadata: `{"a":"${'x'.repeat(8193 - 8)}"}` }],
  ['metadata of 6 levels', { metadata: nested(6) }],
  ['metadata of 100,000 levels', { metadata: `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}` }],
  ['a NUL character in metadata', { metadata: '{"a":["\\u0000"]}' }],
  ['a NUL character in a key of metadata', { metadata: '{"\\u0000":1}' }],
  ['half of a surrogate pair in metadata', { metadata: '{"a":"\\udc00\\ud83d"}' }],
  ['a number in metadata that overflows', { metadata: '{"a":1e400}' }],
  ['a quantity that stands twice', { quantity: '1,"quantity":1000' }, 400, 'malformed_json'],
  ['a quantity that stands twice in two spellings', { quantity: '1,"qu\\u0061ntity":1000' }, 400, 'malformed_json'],
  ['a customer that stands twice', { 'customer_external_id":"x","customer_external_id': '"y"' }, 400, 'malformed_json'],
];

describe.each(notEvents)('an event with %s', (title, literals, status = 422, code = invalid) => {
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

// Not JSON as it can be taken: whatever the endpoint. `good` is a valid body for it.
const notJson: [string, (good: string) => string | Uint8Array, number?, string?][] = [
  ['is empty', () => ''],
  ['is only white space', () => ' \n'],
  ['is cut off', (good) => good.slice(0, -1)],
  ['is cut off within a text', (good) => good.slice(0, 10)],
  ['goes on after its end', (good) => `${good}}`],
  ['is two documents', (good) => good + good],
  ['has a comma before its end', (good) => `${good.slice(0, -1)},}`],
  ['holds a comment', (good) => `${good.slice(0, -1)}/* x */}`],
  ['has keys without quotes', () => '{quantity:1}'],
  ['is in single quotes', (good) => good.replaceAll('"', "'")],
  ['holds NaN', (good) => `${good.slice(0, -1)},"x":NaN}`],
  ['holds a number with a leading zero', (good) => `${good.slice(0, -1)},"x":01}`],
  ['holds a number with a plus sign', (good) => `${good.slice(0, -1)},"x":+1}`],
  ['holds a raw NUL byte', (good) => good.replace('"', '"\0')],
  ['holds a raw line break in a text', (good) => good.replace('"', '"\n')],
  ['begins with a byte order mark', (good) => `\ufeff${good}`],
  ['is in UTF-16', (good) => Buffer.from(good, 'utf16le')],
  [
    'holds a byte that is not UTF-8',
    (good) => Buffer.concat([Buffer.from(good.slice(0, -1)), Buffer.from([0xff, 0x7d])]),
  ],
  ['holds an overlong encoding', (good) => Buffer.concat([Buffer.from([0xc0, 0xbb]), Buffer.from(good)])],
  [
    'holds half of a surrogate pair in UTF-8',
    (good) =>
      Buffer.concat([Buffer.from(`${good.slice(0, -1)},"`), Buffer.from([0xed, 0xa0, 0xbd]), Buffer.from('":1}')]),
  ],
  ['has a member __proto__', (good) => `${good.slice(0, -1)},"__proto__":{"quantity":5}}`],
  ['has a member __proto__ in another spelling', (good) => `${good.slice(0, -1)},"\\u005f_proto__":{"quantity":5}}`],
  ['has a member __proto__ far within', (good) => `${good.slice(0, -1)},"x":[{"y":{"__proto__":1}}]}`],
  ['is nested 100,000 levels deep and cut off', () => '['.repeat(100_000)],
  ['is larger than it may be', (good) => good.padEnd(10_485_761), 413, 'payload_too_large'],
];

describe.each(notJson)('a body that %s', (title, spoil, status = 400, code = 'malformed_json') => {
  test('is refused where events are tracked', async () => {
    const key = `body, ${title}`;
    expectProblem(await track(spoil(eventWith(key))), status, code);
    await expectNothingKept(key);
  });

  test('is refused as a batch, and nothing of it is taken', async () => {
    const key = `batch body, ${title}`;
    expectProblem(await trackBatch(spoil(`{"events":[${eventWith(key)}]}`)), status, code);
    await expectNothingKept(key);
  });

  test('is refused by an admin endpoint', async () => {
    slugs += 1;
    const good = `{"name":"Storage","lookup_key":"storage-${slugs}","type":"switch"}`;
    const create = (raw: string | Uint8Array) =>
      weir.request('POST', '/api/v1/features', { session: admin.session, raw });
    expectProblem(await create(spoil(good)), status, code);
    expect(await create(good)).toMatchObject({ status: 201 });
  });
});

test.each(['null', '[]', '1', '"text"', 'true', '[{"quantity":1}]'])(
  'the body %s is JSON, but no event',
  async (raw) => {
    expectProblem(await track(raw), 422, invalid);
    expectProblem(await trackBatch(raw), 422, invalid);
    expectProblem(await weir.request('POST', '/api/v1/features', { session: admin.session, raw }), 422, invalid);
  },
);

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
