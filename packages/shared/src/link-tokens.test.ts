import { expect, test } from 'vitest';
import { isLinkToken, linkOf, newLinkToken } from './link-tokens.ts';

test('a token has 256 random bits, and is told from another kind, a longer and a shorter one', () => {
  const token = newLinkToken('invitation');
  expect(token).toMatch(/^inv_[\w-]{43}$/);
  expect(newLinkToken('invitation')).not.toBe(token);
  expect(isLinkToken('invitation', token)).toBe(true);
  expect(isLinkToken('password-reset', newLinkToken('password-reset'))).toBe(true);
  for (const other of [newLinkToken('password-reset'), `${token}x`, token.slice(0, -1), ` ${token}`, `${token}\n`, ''])
    expect(isLinkToken('invitation', other)).toBe(false);
});

test('a token stands behind # in its link, where no browser sends it to a server', () => {
  const link = linkOf('password-reset', 'https://billing.example.com/weir/', 'rst_x');
  expect(link).toBe('https://billing.example.com/weir/password-reset#rst_x');
  expect(new URL(link).hash).toBe('#rst_x');
});
