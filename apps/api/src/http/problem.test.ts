import { Refusal } from '@weir/shared/errors';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { invalidFields, invalidRequest, problemOf, problemResponses, statusOf } from './problem.ts';

const schema = z.strictObject({
  name: z.string(),
  scopes: z.array(z.enum(['usage.write'])),
  customer: z.strictObject({ age: z.int() }).optional(),
});

function errorsOf(value: unknown, at?: string) {
  const { error } = schema.safeParse(value);
  if (error === undefined) throw new Error('the value is valid');
  return invalidRequest(error, at).fields.errors;
}

describe('what is wrong with a request is said per field, in words that a person can act on', () => {
  test('a missing field', () => {
    expect(errorsOf({ scopes: [] })).toEqual([{ path: 'name', message: 'is required' }]);
  });
  test('a field of another type', () => {
    expect(errorsOf({ name: 5, scopes: [] })).toEqual([{ path: 'name', message: 'must be a string' }]);
    expect(errorsOf({ name: null, scopes: 'x' })).toEqual([
      { path: 'name', message: 'must be a string' },
      { path: 'scopes', message: 'must be an array' },
    ]);
  });
  test('a field that there is none of, wherever it stands', () => {
    expect(errorsOf({ name: '', scopes: [], nmae: '', customer: { age: 1, agee: 2 } })).toEqual([
      { path: 'customer.agee', message: 'is not a field of this request: check its spelling' },
      { path: 'nmae', message: 'is not a field of this request: check its spelling' },
    ]);
  });
  test('an item of an array', () => {
    expect(errorsOf({ name: '', scopes: ['usage.write', 'x'] })?.[0]?.path).toBe('scopes[1]');
  });
  test('an item of a batch', () => {
    expect(errorsOf({ scopes: [] }, 'events[3]')).toEqual([{ path: 'events[3].name', message: 'is required' }]);
  });
});

test('the detail is the first problem, and says how many more there are', () => {
  expect(invalidFields([{ path: 'a', message: 'is required' }]).message).toBe('a is required.');
  const three = ['a', 'b', 'c'].map((path) => ({ path, message: 'is required' }));
  expect(invalidFields(three).message).toBe('a is required. 3 problems are listed in errors.');
  expect(invalidFields([{ path: '', message: 'must be an object' }]).message).toBe('The body must be an object.');
});

test('of a great many problems those that are told are written out, and all are counted', () => {
  let written = 0;
  const issue = {
    code: 'custom',
    message: 'no',
    get path() {
      written += 1;
      return ['scopes', 0];
    },
  } as const;
  const refusal = invalidRequest({ issues: Array.from({ length: 500_000 }, () => issue) } as unknown as z.ZodError);
  expect(refusal.message).toBe('scopes[0] no. The first 100 of 500000 problems are listed in errors.');
  expect(refusal.fields.errors).toHaveLength(100);
  expect(written).toBe(100);
});

test('a problem document carries what the refusal carries, and nothing that is not there', () => {
  const refusal = new Refusal('duplicate_event', 'It is accepted already.', { id: 'event-1' });
  expect(problemOf(refusal, 'request-1')).toEqual({
    type: 'urn:weir:problem:duplicate_event',
    title: 'The event is already accepted',
    status: 409,
    detail: 'It is accepted already.',
    code: 'duplicate_event',
    request_id: 'request-1',
    id: 'event-1',
  });
});

test('codes of one status share its entry in the OpenAPI document', () => {
  const responses = problemResponses('invalid_request', 'idempotency_key_reused', 'not_found');
  expect(Object.keys(responses)).toEqual(['404', '422']);
  expect(responses['422']?.description).toBe('invalid_request, idempotency_key_reused');
  expect(statusOf('unavailable')).toBe(503);
});
