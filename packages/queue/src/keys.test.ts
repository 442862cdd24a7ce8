import { expect, test } from 'vitest';
import { queueKeys } from './keys.ts';

test('all keys begin with the hash tag, so that Redis Cluster keeps those of one flush in one slot', () => {
  const keys = queueKeys('{weir}');
  const all = [keys.staged, keys.batch('b1'), keys.claim('e1', 'o1', 'k'), keys.revoked('k1')];
  for (const key of all) expect(key.startsWith('{weir}:')).toBe(true);
  expect(new Set(all).size).toBe(all.length);
});

test('a claim belongs to one organization and one epoch of Redis: elsewhere the key is another claim', () => {
  const keys = queueKeys('{weir}');
  expect(keys.claim('e1', 'o1', 'k')).not.toBe(keys.claim('e1', 'o2', 'k'));
  expect(keys.claim('e1', 'o1', 'k')).not.toBe(keys.claim('e1', 'o1', 'K'));
  expect(keys.claim('e1', 'o1', 'k')).not.toBe(keys.claim('e2', 'o1', 'k'));
});
