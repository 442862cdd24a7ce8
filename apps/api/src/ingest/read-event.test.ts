import type { TrackedMeter } from '@weir/db/events';
import { queueKeys } from '@weir/queue/keys';
import { stagedEvents } from '@weir/queue/staged';
import { Refusal, type FieldError } from '@weir/shared/errors';
import { trackBody } from '@weir/shared/event';
import { epochMsOfId } from '@weir/shared/ids';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { spansOfMembers } from '../http/body/json-spans.ts';
import { readEventOf, readTimestamp } from './read-event.ts';

const meter: TrackedMeter = {
  id: 'meter-1',
  organizationId: 'organization-1',
  status: 'ACTIVE',
  aggregation: 'SUM',
};
const options = { keys: queueKeys('{weir}'), timestampAheadSeconds: 86_400 };

/** Reads an event from the members of a body beside those that every event needs. */
function read(more = '', quantity = '1', from: TrackedMeter = meter) {
  const text = `{"meter_token":"t","customer_external_id":"acme","quantity":${quantity}${more === '' ? '' : `,${more}`}}`;
  const event = readEventOf(
    from,
    {
      body: trackBody.parse(JSON.parse(text)),
      text,
      members: spansOfMembers(text, 0),
      sender: { organizationId: 'organization-1', apiKeyId: 'key-1', epoch: 'epoch-1' },
    },
    options,
  );
  const [staged] = stagedEvents([event.candidate.event]);
  if (staged === undefined) throw new Error('nothing was staged');
  return { ...event, staged };
}

function problemOf(more: string, quantity?: string): string {
  try {
    read(more, quantity);
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
  return 'none';
}

test('an event is staged with the exact digits of its quantity and of every number in its metadata', () => {
  const { staged } = read('"metadata":{"user_id":12345678901234567890, "a": 1.10}', '0.1234567890123456789');
  expect(staged.quantity).toBe('0.1234567890123456789');
  expect(staged.metadata).toBe('{"user_id":12345678901234567890, "a": 1.10}');
});

test('an event without a timestamp happened when it was received, which is the time in its id', () => {
  const { staged, timestamp, id } = read();
  expect(timestamp).toBe(new Date(epochMsOfId(id)).toISOString());
  expect(staged).toMatchObject({ id, timestamp, organization_id: 'organization-1', meter_id: 'meter-1' });
  expect(staged).not.toHaveProperty('idempotency_key');
  expect(staged).not.toHaveProperty('metadata');
});

describe('a timestamp', () => {
  const ahead = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
  test.each([
    ['2000-01-01T00:00:00Z', '2000-01-01T00:00:00.000Z'],
    ['2026-01-31T23:59:59.9999999Z', '2026-01-31T23:59:59.999999Z'],
    ['2026-02-01T01:00:00+02:00', '2026-01-31T23:00:00.000Z'],
  ])('of %s is %s', (sent, kept) => {
    expect(read(`"timestamp":"${sent}"`).timestamp).toBe(kept);
  });

  test('may be a little less than 24 hours ahead, and no more', () => {
    expect(problemOf(`"timestamp":"${ahead(86_390)}"`)).toBe('none');
    expect(problemOf(`"timestamp":"${ahead(86_410)}"`)).toBe('timestamp must be at most 24 hours ahead of now.');
    const errors: FieldError[] = [];
    readTimestamp(ahead(100), Date.now(), 90, errors);
    expect(errors).toEqual([{ path: 'timestamp', message: 'must be at most 90 seconds ahead of now' }]);
  });

  test('before the year 2000 is refused, also when only its offset makes it so', () => {
    for (const sent of ['1999-12-31T23:59:59Z', '2000-01-01T00:30:00+01:00'])
      expect(problemOf(`"timestamp":"${sent}"`)).toBe('timestamp must be in the year 2000 or later.');
  });
});

test('everything that is wrong is told at once', () => {
  const big = 'x'.repeat(8 * 1024);
  expect(() => read(`"timestamp":"now","metadata":{"a":"${big}"}`, '9007199254740991.4')).toThrow(
    expect.objectContaining({
      code: 'invalid_request',
      fields: { errors: ['quantity', 'timestamp', 'metadata'].map((path) => expect.objectContaining({ path })) },
    }),
  );
});

test('metadata may take 8 KiB as it was sent, counted in bytes', () => {
  const filled = (bytes: number, letter: string) =>
    `"metadata":{"a":"${letter.repeat((bytes - 8) / Buffer.byteLength(letter))}"}`;
  expect(problemOf(filled(8192, 'x'))).toBe('none');
  expect(problemOf(filled(8193, 'x'))).toBe('metadata must take at most 8192 bytes.');
  expect(problemOf(filled(8192, 'ä'))).toBe('none');
  expect(problemOf(filled(8194, 'ä'))).toBe('metadata must take at most 8192 bytes.');
});

describe('an event is refused that names', () => {
  test.each<[string, TrackedMeter, string]>([
    ['an archived meter', { ...meter, status: 'ARCHIVED' }, 'meter_archived'],
    ['no meter of its organization', { ...meter, organizationId: 'organization-2' }, 'meter_not_found'],
  ])('%s, and one with an idempotency key is told that it may be accepted', (_, from, code) => {
    expect(() => read('', '1', from)).toThrow(expect.objectContaining({ code }));
    expect(() => read('', '1', from)).not.toThrow('may be accepted');
    expect(() => read('"idempotency_key":"k"', '1', from)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining('it may be accepted') }),
    );
  });
});

describe('two requests with one idempotency key', () => {
  const fingerprint = (more: string, quantity?: string) => read(more, quantity).candidate.claim?.fingerprint;
  const key = '"idempotency_key":"k"';

  test('hold the same claim, whatever else they say', () => {
    expect(read(key, '1').candidate.claim?.key).toBe(read(`${key},"metadata":{}`, '2').candidate.claim?.key);
    expect(read('"idempotency_key":"other"').candidate.claim?.key).not.toBe(read(key).candidate.claim?.key);
  });

  test.each([
    ['a retry that comes later', key, key],
    [
      'another spelling of the same time',
      `${key},"timestamp":"2026-01-31T10:00:00Z"`,
      `${key},"timestamp":"2026-01-31T11:00+01:00"`,
    ],
    [
      'metadata in another order and with other white space',
      `${key},"metadata":{"a":1,"b":{"c":2,"d":3}}`,
      `${key},"metadata":{ "b":{"d":3, "c":2}, "a":1 }`,
    ],
  ])('are the same event: %s', (_, first, second) => {
    expect(fingerprint(first)).toBe(fingerprint(second));
  });

  test.each([3, 10, 11, 50])('are the same event: the %i keys of metadata in any order', (count) => {
    const pairs = Array.from({ length: count }, (_, index) => [`k${index}`, index] as const);
    const text = (members: typeof pairs) => `${key},"metadata":${JSON.stringify(Object.fromEntries(members))}`;
    const first = fingerprint(text(pairs));
    fc.assert(
      fc.property(fc.shuffledSubarray(pairs, { minLength: count }), (shuffled) => {
        expect(fingerprint(text(shuffled))).toBe(first);
      }),
    );
  });

  test('are the same event: another spelling of the same quantity', () => {
    expect(fingerprint(key, '10')).toBe(fingerprint(key, '1.0e1'));
  });

  test.each([
    ['another time', `${key},"timestamp":"2026-01-31T10:00:00Z"`, `${key},"timestamp":"2026-01-31T10:00:01Z"`],
    ['a time where there was none', key, `${key},"timestamp":"2026-01-31T10:00:00Z"`],
    ['other metadata', `${key},"metadata":{"a":1}`, `${key},"metadata":{"a":2}`],
    ['metadata of another shape', `${key},"metadata":{"a":["b","c"]}`, `${key},"metadata":{"a":{"b":"c"}}`],
    ['metadata where there was none', key, `${key},"metadata":{}`],
  ])('are two events: %s', (_, first, second) => {
    expect(fingerprint(first)).not.toBe(fingerprint(second));
  });

  test('are two events: another quantity, by however little', () => {
    expect(fingerprint(key, '0.1')).not.toBe(fingerprint(key, '0.10000000000000000001'));
  });
});

test('an event without an idempotency key claims nothing', () => {
  expect(read().candidate.claim).toBeNull();
});

describe('the fingerprint tells payloads apart', () => {
  const fingerprintOf = (metadata: string) =>
    read(`"idempotency_key":"k","metadata":${metadata}`).candidate.claim?.fingerprint;

  test.each([
    ['an object and the array of its members', '{"x":{"a":1}}', '{"x":[["a",1]]}'],
    ['an object and the array of its keys and values', '{"x":{"a":1}}', '{"x":["a",1]}'],
    ['two numbers that are one for JavaScript', '{"user_id":9007199254740992}', '{"user_id":9007199254740993}'],
  ])('%s', (_, one, other) => {
    expect(fingerprintOf(one)).not.toBe(fingerprintOf(other));
  });

  test('white space and the order of keys do not', () => {
    expect(fingerprintOf('{"a":1,"b":{"c":2,"d":3}}')).toBe(fingerprintOf('{ "b": {"d": 3, "c": 2}, "a": 1 }'));
  });
});
