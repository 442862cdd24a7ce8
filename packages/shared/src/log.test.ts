import { expect, test } from 'vitest';
import { describeError } from './log.ts';

test('an error is logged with what went wrong, and without what it carries', () => {
  const error = Object.assign(new Error('WRONGPASS'), {
    code: '23505',
    constraint: 'users_email_key',
    detail: 'Key (email)=(ada@example.com) already exists.',
    command: { name: 'auth', args: ['weir', 'secret'] },
    config: { password: 'secret' },
    lastNodeError: Object.assign(new Error('other'), { command: { name: 'auth', args: ['secret'] } }),
  });
  expect(describeError(error)).toEqual({
    type: 'Error',
    message: 'WRONGPASS',
    stack: expect.stringContaining('WRONGPASS'),
    code: '23505',
    constraint: 'users_email_key',
    command: 'auth',
  });
});

test('its causes are told in its message, and each of several errors by itself', () => {
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', address: '127.0.0.1', secret: 'x' });
  expect(describeError(new Error('no answer', { cause: refused }))).toMatchObject({ message: 'no answer: refused' });
  const described = describeError(new AggregateError([refused], 'all failed'));
  expect(described).toMatchObject({ message: 'all failed', errors: [{ code: 'ECONNREFUSED', address: '127.0.0.1' }] });
  expect(JSON.stringify(described)).not.toContain('"x"');
});

test('what is thrown and is no error is not told, since anything may be in it', () => {
  expect(describeError('secret')).toEqual({ type: 'string' });
});
