import { describe, expect, test } from 'vitest';
import { metadata, receivedAt, trackBody } from './event.ts';
import { newId } from './ids.ts';

const event = { meter_token: 'mtr_1', customer_external_id: 'acme', quantity: 1 };

test.each([[], 'text', 5, null, true])('metadata is an object, and not %j', (value) => {
  expect(metadata.safeParse(value).success).toBe(false);
  expect(metadata.safeParse({ value }).success).toBe(true);
});

describe('a track body', () => {
  test('needs its meter, its customer and its quantity, and nothing else', () => {
    expect(trackBody.safeParse(event).success).toBe(true);
    for (const field of ['meter_token', 'customer_external_id', 'quantity'])
      expect(trackBody.safeParse({ ...event, [field]: undefined }).success).toBe(false);
  });

  test.each(['1', '0x10', true, null, Number.NaN, Infinity, -1, 0, [1], 9007199254740992])(
    'takes no quantity of %j, and converts nothing',
    (quantity) => {
      expect(trackBody.safeParse({ ...event, quantity }).success).toBe(false);
    },
  );

  test('names its meter by a token or by a lookup_key, and not by both', () => {
    const { meter_token: _, ...nameless } = event;
    expect(trackBody.safeParse({ ...nameless, lookup_key: 'tokens' }).success).toBe(true);
    const problems = (value: object) => trackBody.safeParse(value).error?.issues.map(({ path }) => path.join('.'));
    expect(problems({ ...event, lookup_key: 'tokens' })).toEqual(['lookup_key']);
    expect(problems({ ...nameless, quantity: 0, meterToken: 't' })?.toSorted()).toEqual([
      '',
      'meter_token',
      'quantity',
    ]);
    for (const lookup_key of ['', null, 5, 'a\0b'])
      expect(problems({ ...nameless, lookup_key })).toEqual(['lookup_key']);
  });

  test('refuses a field that it does not know, since it may be a misspelt one', () => {
    expect(trackBody.safeParse({ ...event, idempotencyKey: 'a' }).success).toBe(false);
    expect(trackBody.safeParse({ ...event, idempotency_key: 'a' }).success).toBe(true);
  });
});

test('the time of receipt is the one in the id', () => {
  expect(receivedAt(newId(Date.parse('2026-01-31T09:30:00.123Z')))).toBe('2026-01-31T09:30:00.123Z');
});
