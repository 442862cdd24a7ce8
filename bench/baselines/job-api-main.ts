// One job for each request: SET NX on the idempotency key, then a BullMQ job that carries the event.

import { createLog } from '@weir/shared/log';
import { runUntilStopped } from '@weir/shared/process';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { buildDoor } from './door.ts';
import { EVENT_QUEUE, type EventJob } from './event-job.ts';
import { loadBaselineSettings } from './baseline-settings.ts';

const CLAIM_SECONDS = 86_400;

await runUntilStopped(async () => {
  const settings = loadBaselineSettings();
  const log = createLog('job-per-request', 'warn');
  const redis = new Redis(settings.REDIS_URL, { maxRetriesPerRequest: null });
  const queue = new Queue<EventJob>(EVENT_QUEUE, {
    connection: redis,
    prefix: settings.QUEUE_PREFIX,
    defaultJobOptions: { removeOnComplete: true, attempts: 3, backoff: { type: 'exponential', delay: 250 } },
  });
  const app = buildDoor(settings, async (event, keyHash) => {
    const claim = `${settings.QUEUE_PREFIX}:claim:${event.organization_id}:${keyHash}`;
    const taken = await redis.set(claim, event.id, 'EX', CLAIM_SECONDS, 'NX');
    if (taken === null) return (await redis.get(claim)) ?? 'another event';
    try {
      await queue.add('event', { event, keyHash });
    } catch (error) {
      await redis.del(claim);
      throw error;
    }
    return null;
  });
  const url = await app.listen({ port: settings.PORT, host: '127.0.0.1' });
  const close = async () => {
    await app.close();
    await queue.close();
    redis.disconnect();
  };
  return { log, url, drainTimeoutMs: 5_000, close };
});
