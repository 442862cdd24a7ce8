import type { KeyClaim } from '@weir/shared/event';
import { createLog } from '@weir/shared/log';
import { afterEach, expect, test } from 'vitest';
import { PendingClaims } from './pending-claims.ts';

let claims: PendingClaims | undefined;
afterEach(() => claims?.close());

/** So many in order; `told` is what Redis has of them, and `left` what Postgres has. */
function open(count: number, refuses: (eventId: string) => boolean = () => false) {
  const all = Array.from({ length: count }, (_, index): KeyClaim => {
    const eventId = String(index).padStart(6, '0');
    return { eventId, organizationId: 'o', idempotencyKey: eventId, fingerprint: '' };
  });
  const told: string[] = [];
  const left = new Set(all);
  claims = new PendingClaims({
    list: ({ after, limit }) =>
      Promise.resolve([...left].filter(({ eventId }) => eventId > (after?.eventId ?? '')).slice(0, limit)),
    awaitStandby: () => Promise.resolve(),
    write(some) {
      if (some.some(({ eventId }) => refuses(eventId))) return Promise.reject(new Error('Redis is away'));
      told.push(...some.map(({ eventId }) => eventId));
      return Promise.resolve();
    },
    forget(some) {
      for (const each of some) left.delete(each);
      return Promise.resolve();
    },
    isWorthIt: () => false,
    log: createLog('test', 'silent'),
  });
  return { claims, told, left };
}

test.each([0, 1, 999, 1_000, 1_001, 2_500])('Redis is told of all %i claims, once each', async (count) => {
  const { claims, told, left } = open(count);
  await claims.tellAll();
  expect([new Set(told).size, told.length, left.size]).toEqual([count, count, 0]);
});

test('what Redis does not take stays, and is told the next time', async () => {
  let isAway = true;
  const { claims, told, left } = open(2_500, (eventId) => isAway && eventId === '001500');
  await expect(claims.tellAll()).rejects.toThrow('away');
  expect([told.length, left.size]).toEqual([1_000, 1_500]);
  isAway = false;
  await claims.tellAll();
  expect([told.length, left.size]).toEqual([2_500, 0]);
});
