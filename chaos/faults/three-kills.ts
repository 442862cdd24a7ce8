import { RECORD_QUEUE } from '@weir/shared/queue';
import { Queue } from 'bullmq';
import { withRedis, type FaultKind } from './fault.ts';

/** BullMQ gives a job up after its second crash, unless it is told not to; this many prove that it was told. */
const KILLS = 3;

/**
 * One job kills three workers in a row. Postgres is kept from answering, so that the job is under way when its worker
 * dies, and only one worker runs at a time, so that it is known whose job it is.
 */
export const threeKills: FaultKind = {
  name: 'worker killed three times on one job',
  lane: 'processes',
  targets: ['worker-0', 'worker-1'],
  // Each time it takes up to 10 s until the job is given to the next worker.
  seconds: [15, 25],
  isQuick: false,
  isExclusive: true,
  async inflict({ stack, until }, target) {
    const names = [target, target === 'worker-0' ? 'worker-1' : 'worker-0'];
    const workers = names.map((name) => stack.child(name));
    const edges = names.map((name) => stack.edge(`${name}>postgres`));
    const dead = new Set(workers);
    try {
      for (const edge of edges) edge.silence(['forth', 'back']);
      await workers[1]?.end('SIGKILL');
      dead.delete(workers[0]!);
      return await withRedis(stack, async (connection) => {
        const queue = new Queue(RECORD_QUEUE, { connection, prefix: stack.queuePrefix });
        let batch: string | undefined;
        const isUnderWay = async (times: number): Promise<boolean> => {
          const [job] = batch === undefined ? await queue.getActive() : [await queue.getJob(batch)];
          batch ??= job?.id;
          return (job?.attemptsStarted ?? 0) >= times;
        };
        for (let kills = 0; kills < KILLS; kills += 1) {
          const running = workers[kills % 2]!;
          const next = workers[(kills + 1) % 2]!;
          await until(() => isUnderWay(kills + 1), `a worker has taken the job for the ${kills + 1}. time`, 30);
          await running.end('SIGKILL');
          dead.add(running);
          if (kills === KILLS - 1) break;
          await next.start();
          dead.delete(next);
        }
        await queue.close();
        return { detail: `batch ${batch}` };
      });
    } finally {
      for (const edge of edges) await edge.heal('reset');
      for (const worker of dead) await worker.start();
    }
  },
};
