// Finding an event that waits in the queue, among many others, while workers take batches off.

import { findStagedEvent } from '@weir/queue/find-staged';
import { queueKeys } from '@weir/queue/keys';
import { STAGED_SEPARATOR, stagedText } from '@weir/queue/staged';
import type { StagedEvent } from '@weir/shared/event';
import { epochMsOfId, newId } from '@weir/shared/ids';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';

test('an event is found behind hundreds of batches, also while those before it are taken off', async () => {
  const redis = new Redis(inject('redisUrl'));
  const keys = queueKeys(`{weir-test-${randomUUID()}}`);
  try {
    const id = newId();
    const receivedAt = epochMsOfId(id);
    const event: StagedEvent = {
      id,
      organization_id: 'o',
      meter_id: 'm',
      aggregation: 'SUM',
      customer_external_id: 'c',
      quantity: '1',
      timestamp: new Date(receivedAt).toISOString(),
    };
    // Two of a moment, one after the other.
    const batches = Array.from({ length: 250 }, (_, index) => newId(receivedAt - 500 + 4 * index));
    const [before = '', holder = ''] = batches.slice(149, 151);
    await redis.zadd(keys.staged, ...batches.flatMap((batch, index) => [receivedAt + index, batch]));
    const texts = [
      { ...event, id: newId(), organization_id: id, meter_id: id, metadata: JSON.stringify([id]) },
      { ...event, id: newId() },
      { ...event, metadata: '{"id":1}' },
    ].map(stagedText);
    await redis.rpush(keys.batch(before), ...texts.slice(0, 1));
    await redis.rpush(keys.batch(holder), ...texts.slice(0, 1), texts.slice(1).join(STAGED_SEPARATOR));
    let looks = 0;
    const watched = new Proxy(redis, {
      get(real, name) {
        const value: unknown = Reflect.get(real, name);
        if (typeof value !== 'function') return value;
        if (name !== 'weir:find-flush') return value.bind(real);
        return async (...args: unknown[]) => {
          looks += 1;
          await real.zrem(keys.staged, batches[looks] ?? '');
          return await value.apply(real, args);
        };
      },
    });
    expect(await findStagedEvent({ redis: watched, keys }, id)).toEqual({ ...event, metadata: '{"id":1}' });
    expect(looks).toBeGreaterThan(100);
    expect(await findStagedEvent({ redis, keys }, newId(epochMsOfId(id)))).toBeUndefined();
  } finally {
    await redis.unlink(keys.staged, ...(await redis.keys(keys.batch('*').replace(/[{}]/g, '\\$&'))));
    redis.disconnect();
  }
});
