import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { digest, hash128 } from './hash.ts';

test('an idempotency key is known by the first 128 bits of its SHA-256', () => {
  const whole = createHash('sha256').update('Grüße').digest('hex');
  expect(hash128('Grüße')).toBe(whole.slice(0, 32));
});

test('a digest tells apart what SHA-256 does in its first 132 bits, and is short', () => {
  const whole = createHash('sha256').update('Grüße').digest('base64url');
  expect(digest('Grüße')).toBe(whole.slice(0, 22));
  expect(digest('Grüße')).not.toBe(digest('Grüse'));
});
