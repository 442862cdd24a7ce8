// What has to be done again and again, by any one worker: BullMQ keeps the schedule, so ten workers do it as often as one.

import type { Logger } from '@weir/shared/log';
import { Queue } from 'bullmq';
import type { QueueConnection } from './connection.ts';
import { openJobWorker, type JobWorker } from './job-worker.ts';
import { noteOfRedis } from './redis-away.ts';

/** The queue of maintenance. */
export const MAINTENANCE_QUEUE = 'maintenance';

/** Redis may lose its data, and the schedule with it; each worker writes it anew this often. */
const RESCHEDULE_INTERVAL_MS = 30_000;

export interface MaintenanceOptions<Task extends string> {
  /** How often each task is done, in milliseconds. */
  every: Record<Task, number>;
  perform(task: Task): Promise<void>;
  log: Logger;
}

/** Schedules the tasks for all workers, and does those that come up here. After a close the schedule stays for the others. */
export function openMaintenance<Task extends string>(
  queue: QueueConnection,
  { every, perform, log }: MaintenanceOptions<Task>,
): JobWorker {
  const { redis, keys } = queue;
  const onError = (error: Error) => log.warn({ err: noteOfRedis(error) }, 'maintenance met an error');
  const tasks = new Queue(MAINTENANCE_QUEUE, { connection: redis, prefix: keys.prefix });
  tasks.on('error', onError);
  const worker = openJobWorker<unknown>(queue, MAINTENANCE_QUEUE, {}, async ({ name }) => perform(name as Task), {
    onFailed: (error, job) => log.error({ err: error, task: job?.name }, 'maintenance failed; it will be done again'),
    onError,
  });
  const schedule = () => {
    scheduleAll(tasks, every).catch((error: unknown) => log.warn({ err: error }, 'maintenance could not be scheduled'));
  };
  schedule();
  const timer = setInterval(schedule, RESCHEDULE_INTERVAL_MS);
  return {
    take: worker.take,
    async close() {
      clearInterval(timer);
      await worker.close();
      await tasks.close();
    },
  };
}

async function scheduleAll(queue: Queue, tasks: Record<string, number>): Promise<void> {
  const opts = { removeOnComplete: true, removeOnFail: true };
  for (const [name, every] of Object.entries(tasks)) {
    // A machine whose clock was ahead has put the next time so far off that it would not come for as long.
    const next = (await queue.getJobScheduler(name))?.next ?? 0;
    if (next > Date.now() + 2 * every) await queue.removeJobScheduler(name);
    await queue.upsertJobScheduler(name, { every }, { name, data: {}, opts });
  }
}
