// What the sweeper finds behind many batches that stay.

import { queueKeys } from '@weir/queue/keys';
import { RECORD_QUEUE } from '@weir/queue/record-jobs';
import { openSweeper } from '@weir/queue/sweep';
import { newId } from '@weir/shared/ids';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { randomBytes } from 'node:crypto';
import { expect, inject, test } from 'vitest';

test('a batch without a job is found also behind thousands that nobody can record', async () => {
  const redis = new Redis(inject('redisUrl'));
  const keys = queueKeys(`{weir-test-${randomBytes(6).toString('hex')}}`);
  const records = new Queue(RECORD_QUEUE, { connection: redis, prefix: keys.prefix });
  const sweeper = openSweeper({ redis, keys }, (error) => {
    throw error;
  });
  const staying = Array.from({ length: 5_000 }, () => newId());
  const pipeline = redis.pipeline();
  staying.forEach((batch, index) => pipeline.zadd(keys.staged, index, batch).hset(records.toKey(batch), 'name', 'x'));
  await pipeline.exec();
  const lost = newId();
  await redis.zadd(keys.staged, 5_000, lost);
  // A look is at so many; the next one goes on behind them, and the one after that begins again.
  expect([await sweeper.sweep(0), await sweeper.sweep(0)]).toEqual([0, 1]);
  expect(await records.getJobState(lost)).toBe('waiting');
  await redis.del(records.toKey(staying[0] ?? ''));
  expect(await sweeper.sweep(0)).toBe(1);
  await Promise.all([sweeper.close(), records.close()]);
  const left = await redis.keys(`${keys.prefix.replace(/[{}]/g, '\\$&')}*`);
  await redis.unlink(...left);
  redis.disconnect();
});
