// What has to be done again and again, by any one worker: BullMQ keeps the schedule, so ten workers do it as often as one.

import type { Logger } from '@weir/shared/log';
import { SparseLog } from '@weir/shared/sparse-log';
import { Queue } from 'bullmq';
import type { QueueConnection } from './connection.ts';
import { openJobWorker, type JobWorker } from './job-worker.ts';
import { MaintenanceDone } from './maintenance-done.ts';
import { noteOfRedis } from './redis-away.ts';

/** The queue of maintenance. */
export const MAINTENANCE_QUEUE = 'maintenance';

/** What is deleted has a queue of its own, since there may be more of it than other maintenance can wait for. */
export const DELETING_QUEUE = 'deleting';

/** Redis may lose its data, and the schedule with it; each worker writes it anew this often. */
const RESCHEDULE_INTERVAL_MS = 30_000;

export interface MaintenanceTask {
  everyMs: number;
  /** What can be done in parts is left for the next time once `isOver`: with its share of the interval, and where no jobs are to be taken. */
  perform(isOver: () => boolean): Promise<void>;
}

export interface MaintenanceOptions {
  /** Which queue: a worker does one task of each at a time. */
  name: typeof MAINTENANCE_QUEUE | typeof DELETING_QUEUE;
  /** By name. What another build has scheduled under other names is passed over. */
  tasks: Record<string, MaintenanceTask>;
  /** Comes before each task; what it throws keeps the task from being done now. */
  begin(): Promise<void>;
  onFailed?(error: Error): void;
  /** Told again and again of each task for how many seconds nobody has done it although it was time; 0: it is in time. */
  showOverdue?(task: string, seconds: number): void;
  log: Logger;
}

/** Schedules the tasks for all workers, and does those that come up here. After a close the schedule stays for the others. */
export function openMaintenance(
  queue: QueueConnection,
  { name, tasks, begin, onFailed, showOverdue, log }: MaintenanceOptions,
): JobWorker {
  const { redis, keys } = queue;
  const known = new Map(Object.entries(tasks));
  const onError = (error: Error) => log.warn({ err: noteOfRedis(error) }, 'maintenance met an error');
  const jobs = new Queue(name, { connection: redis, prefix: keys.prefix });
  jobs.on('error', onError);
  const sparseLog = new SparseLog();
  const done = new MaintenanceDone(queue);
  let isTaking = true;
  let isClosed = false;
  const perform = async (job: { name: string }) => {
    const task = known.get(job.name);
    if (task === undefined) return;
    await begin();
    const end = performance.now() + task.everyMs / known.size;
    await task.perform(() => !isTaking || performance.now() > end);
    await done.note(job.name);
  };
  const worker = openJobWorker<unknown>(queue, name, {}, perform, {
    onFailed(error, job) {
      const fields = { err: error, task: job?.name };
      sparseLog.write(
        log,
        'error',
        `${job?.name} ${error.message}`,
        fields,
        'maintenance failed; it will be done again',
      );
      onFailed?.(error);
    },
    onError,
  });
  const scheduleAll = async () => {
    const tasks: string[] = [];
    let err: unknown;
    for (const [task, { everyMs }] of known) {
      if (isClosed) return;
      try {
        showOverdue?.(task, await done.findOverdueSeconds(task, everyMs));
        await schedule(jobs, task, everyMs);
      } catch (error) {
        // The others are not to wait for it. One line tells of all: a Redis that refuses writes refuses each.
        tasks.push(task);
        err = error;
      }
    }
    if (tasks.length > 0) log.warn({ err, tasks }, 'maintenance could not be scheduled');
  };
  void scheduleAll();
  const timer = setInterval(() => void scheduleAll(), RESCHEDULE_INTERVAL_MS);
  return {
    take(isOn) {
      isTaking = isOn;
      worker.take(isOn);
    },
    async close() {
      isTaking = false;
      isClosed = true;
      clearInterval(timer);
      await worker.close();
      await jobs.close();
    },
  };
}

async function schedule(queue: Queue, task: string, every: number): Promise<void> {
  // A machine whose clock was ahead has put the next time so far off that it would not come for as long.
  const next = (await queue.getJobScheduler(task))?.next ?? 0;
  if (next > Date.now() + 2 * every) await queue.removeJobScheduler(task);
  const opts = { removeOnComplete: true, removeOnFail: true };
  await queue.upsertJobScheduler(task, { every }, { name: task, data: {}, opts });
}
