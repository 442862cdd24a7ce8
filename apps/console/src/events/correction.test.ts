import { expect, test } from 'vitest';
import { correct } from './correction.ts';

const event = { customer_external_id: 'acme', metadata: { user: 'ann', model: 'x' } };

test('a key of the metadata is set, and the others stay', () => {
  expect(correct({ source: 'field', key: 'user_id', value: 'user' }, event)).toEqual({
    user: 'ann',
    model: 'x',
    user_id: 'ann',
  });
  expect(correct({ source: 'customer', key: 'user_id', value: '' }, event)).toMatchObject({ user_id: 'acme' });
  expect(correct({ source: 'text', key: 'user_id', value: 'bob' }, { ...event, metadata: null })).toEqual({
    user_id: 'bob',
  });
});

test('an event that has no such value is left alone rather than sent wrong again', () => {
  expect(correct({ source: 'field', key: 'user_id', value: 'uid' }, event)).toBe('missing');
  expect(correct({ source: 'field', key: 'user_id', value: 'uid' }, { ...event, metadata: { uid: '' } })).toBe(
    'missing',
  );
  expect(correct({ source: 'none', key: 'user_id', value: '' }, event)).toBeUndefined();
});
