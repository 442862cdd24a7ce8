import { withQueue } from '../environment/redis-queue.ts';
import type { FaultKind } from './fault.ts';

/** BullMQ gives a job up after its second crash, unless it is told not to; this many prove that it was told. */
const KILLS = 3;

/** Both are cut off from Postgres, in the midst of what they do there. */
const withEdges = (names: string[]): string => [...names, ...names.map((name) => `${name}>postgres`)].join(',');

/**
 * One job kills three workers in a row. Postgres is kept from answering, so that the job is under way when its worker dies,
 * and only one worker runs at a time, so that it is known whose job it is. Between two kills the queue is paused until the
 * job has come back: a worker that had its hands full with others would not take it.
 */
export const threeKills: FaultKind = {
  name: 'worker killed three times on one job',
  lane: 'processes',
  targets: [
    ['worker-0', 'worker-1'],
    ['worker-1', 'worker-0'],
  ].map(withEdges),
  // Each time it takes up to 10 s until the job is given to the next worker.
  seconds: [15, 25],
  isQuick: false,
  isExclusive: true,
  inflict: ({ stack, until }, target) =>
    withQueue(stack, async ({ redis, queue, keys }) => {
      const names = target.split(',').slice(0, 2);
      const workers = names.map((name) => stack.child(name));
      const edges = names.map((name) => stack.edge(`${name}>postgres`));
      const dead = new Set<(typeof workers)[number]>();
      try {
        await queue.pause();
        await until(async () => (await queue.getActiveCount()) === 0, 'the workers have nothing in hand', 30);
        await workers[1]!.end('SIGKILL');
        dead.add(workers[1]!);
        for (const edge of edges) edge.silence(['forth', 'back']);
        await queue.resume();
        let batch = '';
        // Not one that came twice and finds its batch recorded: it is over at once, without Postgres.
        const hasTaken = async () => {
          for (const { id = '' } of await queue.getActive()) {
            if ((await redis.exists(keys.batch(id))) === 1) batch = id;
          }
          return batch !== '';
        };
        await until(hasTaken, 'a worker has taken a job', 30);
        for (let kills = 0; kills < KILLS; kills += 1) {
          const running = workers[kills % 2]!;
          const next = workers[(kills + 1) % 2]!;
          const hasBegun = async () => ((await queue.getJob(batch))?.attemptsStarted ?? 0) > kills;
          await until(hasBegun, `a worker has taken the job for the ${kills + 1}. time`, 30);
          await queue.pause();
          await running.end('SIGKILL');
          dead.add(running);
          if (kills === KILLS - 1) break;
          // A worker takes no jobs before it has seen whose queue it is, for which it has to ask Postgres.
          const edge = edges[(kills + 1) % 2]!;
          await edge.heal('reset');
          await next.start(stack.variantOf(next.name));
          edge.silence(['forth', 'back']);
          dead.delete(next);
          await until(async () => (await queue.getActiveCount()) === 0, 'the job has come back to the queue', 30);
          await queue.resume();
        }
        return { detail: `batch ${batch}` };
      } finally {
        for (const edge of edges) await edge.heal('reset');
        await queue.resume();
        for (const worker of dead) await worker.start(stack.variantOf(worker.name));
      }
    }),
};
