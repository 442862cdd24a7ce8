// Redis loses what it had: the end of its log, or everything. What was in Postgres by then has to stay counted once.

import { queueKeys } from '@weir/queue/keys';
import { stagedEvents } from '@weir/queue/staged';
import { withRedis, type FaultKind } from './fault.ts';
import { cutTail } from './redis-log.ts';

/**
 * The end of the log is cut off, as by a disk that lied about what it had written. Events that were only there are lost,
 * and are named; their claims and many others are lost with them.
 */
const cutLog: FaultKind = {
  name: 'log cut',
  lane: 'stores',
  targets: ['redis'],
  seconds: [0, 2],
  isQuick: true,
  async inflict({ stack, seconds, random, hold }, target) {
    const child = stack.child(target);
    const bytes = random.int(1, 20_000);
    await child.end('SIGKILL');
    try {
      const lostEvents = eventsOnlyIn(await cutTail(stack.redisFolder, bytes), stack.queuePrefix);
      await hold(seconds);
      return { detail: `${bytes} bytes`, losesClaims: true, lostEvents };
    } finally {
      await child.start();
    }
  },
};

/** The events that were staged by these commands, and not taken off again by them. */
export function eventsOnlyIn(commands: string[][], queuePrefix: string): string[] {
  const keyPrefix = queueKeys(queuePrefix).batch('');
  const staged = new Map<string, string[]>();
  for (const [name = '', key = '', ...rest] of commands) {
    if (!key.startsWith(keyPrefix)) continue;
    if (name.toUpperCase() === 'RPUSH') {
      const ids = stagedEvents(rest).map(({ id }) => id);
      staged.set(key, [...(staged.get(key) ?? []), ...ids]);
    } else if (/^(UNLINK|DEL)$/i.test(name)) {
      // A worker takes a batch off after Postgres has it.
      for (const taken of [key, ...rest]) staged.delete(taken);
    }
  }
  return [...staged.values()].flat();
}

/** Everything is lost once all that was accepted is in Postgres: claims, jobs, schedules, scripts. */
const flushAll: FaultKind = {
  name: 'FLUSHALL',
  lane: 'stores',
  targets: ['redis,api-0>redis,api-1>redis'],
  seconds: [1, 4],
  isQuick: true,
  isExclusive: true,
  async inflict({ stack, until }) {
    const edges = stack.apis.map(({ name }) => stack.edge(`${name}>redis`));
    const { staged } = queueKeys(stack.queuePrefix);
    try {
      for (const edge of edges) await edge.refuse();
      await withRedis(stack, async (redis) => {
        await until(async () => (await redis.zcard(staged)) === 0, 'everything that is staged has been recorded', 60);
        await redis.flushall();
      });
      return { losesClaims: true };
    } finally {
      for (const edge of edges) await edge.heal();
    }
  },
};

export const lostMemoryFaults: FaultKind[] = [cutLog, flushAll];
