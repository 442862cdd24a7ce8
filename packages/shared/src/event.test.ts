import { describe, expect, test } from 'vitest';
import { metadata, receivedAt, trackBody } from './event.ts';
import { newId } from './ids.ts';

const event = { meter_token: 'mtr_1', customer_external_id: 'acme', quantity: 1 };

function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 1; level < levels; level += 1) value = { deeper: value };
  return value;
}

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, index]));
const problemsOf = (value: unknown) => metadata.safeParse(value).error?.issues.map((issue) => issue.message);

describe('metadata', () => {
  test.each([
    ['nothing', {}],
    ['50 keys', keys(50)],
    ['5 levels', nested(5)],
    ['5 levels, counted through arrays', { a: [[[['leaf']]]] }],
    ['texts of every script, numbers, booleans and null', { a: 'Grüße 👋', b: 1.5, c: true, d: null, e: [1, 'x'] }],
    ['a key named like a method of every object', { constructor: 1, toString: 2, hasOwnProperty: 3 }],
  ])('may hold %s', (_, value) => {
    expect(problemsOf(value)).toBeUndefined();
  });

  test.each<[string, unknown, string]>([
    ['51 keys', keys(51), 'must have at most 50 keys'],
    ['6 levels', nested(6), 'must be nested at most 5 levels deep'],
    ['6 levels of arrays', { a: [[[[[]]]]] }, 'must be nested at most 5 levels deep'],
    ['a NUL character', { a: 'x\0' }, 'must not hold a NUL character or half of a surrogate pair'],
    ['half of a surrogate pair', { a: { b: ['\ud83d'] } }, 'must not hold a NUL character or half of a surrogate pair'],
    ['a NUL character in a key', { 'a\0': 1 }, 'must not hold a NUL character or half of a surrogate pair in a key'],
    ['a number out of range', { a: [Infinity] }, 'must not hold a number that is out of range'],
  ])('may not hold %s', (_, value, problem) => {
    expect(problemsOf(value)).toEqual([problem]);
  });

  test.each([[], 'text', 5, null, true])('is an object, and not %j', (value) => {
    expect(metadata.safeParse(value).success).toBe(false);
  });

  test('that is nested 100,000 levels deep is refused without overflowing the stack', () => {
    expect(problemsOf({ a: JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) })).toEqual([
      'must be nested at most 5 levels deep',
    ]);
  });
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

  test('refuses a field that it does not know, since it may be a misspelt one', () => {
    expect(trackBody.safeParse({ ...event, idempotencyKey: 'a' }).success).toBe(false);
    expect(trackBody.safeParse({ ...event, idempotency_key: 'a' }).success).toBe(true);
  });
});

test('the time of receipt is the one in the id', () => {
  expect(receivedAt(newId(Date.parse('2026-01-31T09:30:00.123Z')))).toBe('2026-01-31T09:30:00.123Z');
});
