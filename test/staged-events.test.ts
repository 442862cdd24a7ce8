// Finding an event that waits in the queue, among many others, while workers take batches off.

import { findStagedEvent } from '@weir/api/usage/staged-events';
import { epochMsOfId, newId } from '@weir/shared/ids';
import { queueKeys } from '@weir/shared/queue';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { expect, inject, test } from 'vitest';

test('an event is found behind hundreds of batches, also while those before it are taken off', async () => {
  const redis = new Redis(inject('redisUrl'));
  const keys = queueKeys(`{weir-test-${randomUUID()}}`);
  try {
    const id = newId();
    const batches = Array.from({ length: 250 }, (_, index) => `batch-${String(index).padStart(3, '0')}`);
    await redis.zadd(keys.staged, ...batches.flatMap((batch) => [epochMsOfId(id), batch]));
    await redis.hset(keys.batch('batch-150'), id, JSON.stringify({ id }));
    let looks = 0;
    const watched = new Proxy(redis, {
      get(real, name) {
        if (name !== 'hget') return Reflect.get(real, name).bind(real);
        return async (key: string, field: string) => {
          looks += 1;
          await real.zrem(keys.staged, batches[looks] ?? '');
          return await real.hget(key, field);
        };
      },
    });
    expect(await findStagedEvent(watched, keys, id)).toEqual({ id });
    expect(await findStagedEvent(redis, keys, newId(epochMsOfId(id)))).toBeUndefined();
  } finally {
    await redis.unlink(keys.staged, keys.batch('batch-150'));
    redis.disconnect();
  }
});
