import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { backoffMs, digest, hash128, queueKeys, recordJobOptions } from './queue.ts';

test('all keys begin with the hash tag, so that Redis Cluster keeps those of one flush in one slot', () => {
  const keys = queueKeys('{weir}');
  const all = [keys.staged, keys.batch('b1'), keys.claim('m1', 'o1', 'k'), keys.revoked('k1')];
  for (const key of all) expect(key.startsWith('{weir}:')).toBe(true);
  expect(new Set(all).size).toBe(all.length);
});

test('a claim belongs to one organization and one memory of Redis: the same key in another one is another claim', () => {
  const keys = queueKeys('{weir}');
  expect(keys.claim('m1', 'o1', 'k')).not.toBe(keys.claim('m1', 'o2', 'k'));
  expect(keys.claim('m1', 'o1', 'k')).not.toBe(keys.claim('m1', 'o1', 'K'));
  expect(keys.claim('m1', 'o1', 'k')).not.toBe(keys.claim('m2', 'o1', 'k'));
});

test('an idempotency key is known by the first 128 bits of its SHA-256', () => {
  const whole = createHash('sha256').update('Grüße').digest('hex');
  expect(hash128('Grüße')).toBe(whole.slice(0, 32));
});

test('a digest tells apart what SHA-256 does in its first 132 bits, and is short', () => {
  const whole = createHash('sha256').update('Grüße').digest('base64url');
  expect(digest('Grüße')).toBe(whole.slice(0, 22));
  expect(digest('Grüße')).not.toBe(digest('Grüse'));
});

test('a job is named after its batch, and is tried for as long as it takes', () => {
  expect(recordJobOptions('b1')).toMatchObject({
    jobId: 'b1',
    attempts: Number.MAX_SAFE_INTEGER,
    removeOnComplete: true,
  });
});

test('the pause before the next attempt grows to five seconds and no further', () => {
  expect([1, 2, 3, 4, 5, 6, 100, 1e9].map(backoffMs)).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000, 5000]);
});
