import { expect, test } from 'vitest';
import type { Row } from './read-rows.ts';
import { compileToEvent, parseQuantity, type EventSpecs } from './to-event.ts';

const specs: EventSpecs = {
  meter: 'tokens',
  customer: 'customer',
  quantity: 'quantity',
  metadata: [],
  name: 'usage',
  path: '/data/usage.csv',
};

function toEvent(values: Record<string, string>, changes: Partial<EventSpecs> = {}) {
  const row: Row = { row: 7, line: 9, endByte: 0, values: { customer: 'acme', quantity: '1', ...values } };
  const column = (name: string) => (fields: unknown) => (fields as Record<string, string>)[name] || undefined;
  return compileToEvent({ ...specs, ...changes }, column, { timezone: 'UTC' })(row);
}

test('an event has the digits of the file and a key made of meter, file and line', () => {
  expect(toEvent({ quantity: '0.1234567890123456789' })).toEqual({
    event: {
      meter_token: 'tokens',
      customer_external_id: 'acme',
      quantity: '0.1234567890123456789',
      idempotency_key: 'import:tokens:usage:9',
    },
  });
});

test('the meter may be named by its lookup_key instead, which then stands in the key', () => {
  expect(toEvent({ id: 'r1' }, { meter: undefined, lookupKey: 'tokens-{id}' })).toEqual({
    event: {
      lookup_key: 'tokens-r1',
      customer_external_id: 'acme',
      quantity: '1',
      idempotency_key: 'import:tokens-r1:usage:9',
    },
  });
});

test('without a name the file is known by its path and the day of its first row', () => {
  const untitled = { ...specs, name: undefined, timestamp: 'at' };
  const column = (name: string) => (fields: unknown) => (fields as Record<string, string>)[name];
  const make = compileToEvent(untitled, column, { timezone: 'UTC' });
  const row = (line: number, at: string, quantity: string): Row => {
    return { row: line - 1, line, endByte: 0, values: { customer: 'acme', at, quantity } };
  };
  expect(make(row(2, '2023-11-15 23:59:59', '1'))).toHaveProperty('event');
  expect(make(row(3, '2023-11-16 00:00:00', '1'))).toMatchObject({
    event: { idempotency_key: 'import:tokens:/data/usage.csv@2023-11-15:3' },
  });
});

test('a bad first row stops the import, unless the keys are made without its day', () => {
  const column = (name: string) => (fields: unknown) => (fields as Record<string, string>)[name];
  const first = (changes: Partial<EventSpecs>) =>
    compileToEvent({ ...specs, name: undefined, timestamp: 'at', ...changes }, column, { timezone: 'UTC' });
  const place = { row: 1, line: 2, endByte: 0 };
  const unreadable: Row = { ...place, problem: 'has 1 fields instead of 2' };
  const undated: Row = { ...place, values: { customer: 'acme', at: 'units', quantity: '1' } };
  expect(() => first({})(unreadable)).toThrow(/^line 2: has 1 fields .* correct it, or give --name$/);
  expect(() => first({})(undated)).toThrow(/^line 2: timestamp "units" cannot be read/);
  expect(() => first({})({ ...place, values: {} })).toThrow(/^line 2: has no timestamp/);
  const other = first({});
  other({ ...place, values: { customer: 'acme', at: '2023-11-15', quantity: '1' } });
  expect(other({ ...unreadable, row: 2 })).toHaveProperty('problem');
  for (const changes of [{ name: 'usage' }, { idempotencyKey: 'id' }]) {
    expect(first(changes)(unreadable)).toHaveProperty('problem');
    expect(first(changes)(undated)).toHaveProperty('problem');
  }
});

test('every field can come from a column, a template or a text', () => {
  const event = toEvent(
    { at: ' 2023-11-16 18:17:03 ', id: 'r1', user: 'ann', note: '' },
    {
      meter: 'tokens-{id}',
      customer: 'cust-{row%3}',
      quantity: '2.5',
      timestamp: 'at',
      idempotencyKey: '{id}-in',
      metadata: [
        ['user_id', 'user'],
        ['source', '=import'],
        ['note', 'note'],
      ],
    },
  );
  expect(event).toEqual({
    event: {
      meter_token: 'tokens-r1',
      customer_external_id: 'cust-1',
      quantity: '2.5',
      timestamp: '2023-11-16T18:17:03Z',
      idempotency_key: 'r1-in',
      metadata: { user_id: 'ann', source: 'import' },
    },
  });
});

test('a row without a needed value is bad and says which', () => {
  expect(toEvent({ customer: '' })).toEqual({ problem: 'has no customer (customer is empty)' });
  expect(toEvent({ quantity: ' ' })).toEqual({ problem: 'has no quantity (quantity is empty)' });
  expect(toEvent({ quantity: '1,5' })).toEqual({ problem: 'quantity "1,5" is not a decimal number' });
  expect(toEvent({}, { timestamp: 'at' })).toEqual({ problem: 'has no timestamp (at is empty)' });
  expect(toEvent({ at: 'now' }, { timestamp: 'at' })).toEqual({ problem: 'timestamp "now" cannot be read' });
  expect(toEvent({}, { idempotencyKey: 'id' })).toEqual({ problem: 'has no idempotency key (id is empty)' });
});

test('quantities keep every digit; only signs and zeros that JSON does not know are taken off', () => {
  for (const text of ['1', '0.10', '1e3', '-2.5', '0', '123456789012345678901234567890.5']) {
    expect(parseQuantity(text)).toBe(text);
  }
  expect(['.5', '+5', '007', '-.5', '000', '00.50'].map(parseQuantity)).toEqual(['0.5', '5', '7', '-0.5', '0', '0.50']);
  expect(['', '.', '5.', '+', '1,000', '0x10', 'NaN', '1 2', '--5'].map(parseQuantity)).toEqual(
    Array.from({ length: 9 }, () => undefined),
  );
});
