// Since when something waits to be recorded, where much is recorded and stays in Redis for want of a replica.

import { admit } from '@weir/queue/admit';
import { leaveOnly, noteRecorded, readBatch } from '@weir/queue/batches';
import { queueKeys } from '@weir/queue/keys';
import { findQueuedSince } from '@weir/queue/oldest-staged';
import { readRedisState } from '@weir/queue/redis-state';
import { stagedText } from '@weir/queue/staged';
import { newId } from '@weir/shared/ids';
import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

const EPOCH = 'of these tests';
const organizationId = newId();
const keys = queueKeys(`{weir-test-${randomUUID()}}`);
let redis: Redis;
beforeAll(async () => {
  redis = new Redis(inject('redisUrl'));
  await redis.set(keys.epoch, EPOCH);
});
afterAll(async () => {
  await redis.unlink(await redis.keys(`${keys.prefix}:*`.replace(/[{}]/g, '\\$&')));
  redis.disconnect();
});

/** Stages an event that was received then, in a batch of its own or one that is there. Returns the batch. */
async function stage(receivedAt: number, batch = newId(receivedAt)): Promise<string> {
  const of = { organization_id: organizationId, meter_id: organizationId, customer_external_id: 'acme' };
  const [id, timestamp] = [newId(receivedAt), new Date(receivedAt).toISOString()];
  const event = stagedText({ id, ...of, aggregation: 'SUM', quantity: '1', timestamp });
  const sender = { organizationId, apiKeyId: organizationId, epoch: EPOCH };
  await admit({ redis, keys }, batch, [{ id, event, sender, claim: null }], 60);
  return batch;
}

async function note(batch: string): Promise<void> {
  await noteRecorded({ redis, keys }, { ...(await readBatch({ redis, keys }, batch)), epoch: EPOCH });
}

const since = () => findQueuedSince({ redis, keys }, organizationId);

test('the oldest that waits is found behind more batches that are recorded than are looked at first', async () => {
  const began = Date.now() - 3_600_000;
  const batches: string[] = [];
  for (let n = 0; n < 40; n += 1) batches.push(await stage(began + n * 1_000));
  expect(await since()).toBe(began);
  for (const batch of batches.filter((_, n) => n !== 30)) await note(batch);
  expect(await since()).toBe(began + 30_000);
  const stagedAt = Number(await redis.zscore(keys.staged, batches[30] ?? ''));
  expect(await readRedisState({ redis, keys })).toMatchObject({ batches: 1, oldestStagedAt: stagedAt });
  await note(batches[30] ?? '');
  expect(await since()).toBeUndefined();
  expect(await readRedisState({ redis, keys })).toMatchObject({ batches: 0, oldestStagedAt: undefined });
  await stage(began + 50_000, batches[0]);
  expect(await since()).toBe(began);
});

test('what is left of a batch is not taken for what it was, however much joins it', async () => {
  const batch = await stage(Date.now() - 7_200_000);
  await stage(Date.now(), batch);
  await note(batch);
  const read = await readBatch({ redis, keys }, batch);
  await leaveOnly({ redis, keys }, read, read.events.slice(0, 1));
  expect(await redis.llen(keys.batch(batch))).toBe(1);
  await stage(Date.now(), batch);
  expect(await redis.hexists(keys.recorded, batch)).toBe(0);
  expect(await since()).toBeLessThan(Date.now() - 3_700_000);
});
