// What is written is on two machines: with REDIS_COPIES=2 a replica has to acknowledge it. WAIT asks for that, holds up the connection
// that it is sent on, and says how many replicas have all that was written over that connection. Of what wrote nothing, newer versions
// say so at once; so a small key is written before each.

import type { Redis } from 'ioredis';
import { NotCopied } from './redis-away.ts';

/** Has what is written acknowledged by a replica. */
export interface SecondCopy {
  /** Whether it has a connection that stands. */
  isReady(): boolean;
  /**
   * Sends a command, and returns its reply once a replica has all that the reply tells of. Throws what `send` throws, and a NotCopied.
   * `send` has to send at once, and nothing later.
   */
  written<Reply>(send: (redis: Redis) => Promise<Reply>): Promise<Reply>;
  /** The same, and says whether a replica has it in place of throwing a NotCopied. */
  asked<Reply>(send: (redis: Redis) => Promise<Reply>): Promise<{ reply: Reply; isCopied: boolean }>;
  readonly connections: readonly Redis[];
}

/**
 * Whoever sends something here waits for nobody else, while there are no more of them than connections. `write` sends the small write, at
 * once and also where Redis is full.
 */
export function buildSecondCopy(
  connections: readonly Redis[],
  write: (redis: Redis) => Promise<unknown>,
  msMax: number,
): SecondCopy {
  const underWay = new Map(connections.map((redis) => [redis, 0]));
  const add = (redis: Redis, count: number) => underWay.set(redis, (underWay.get(redis) ?? 0) + count);
  const pick = (): Redis | undefined => {
    const ready = connections.filter((redis) => redis.status === 'ready');
    return (ready.length === 0 ? connections : ready).toSorted(
      (a, b) => (underWay.get(a) ?? 0) - (underWay.get(b) ?? 0),
    )[0];
  };
  const asked = async <Reply>(send: (redis: Redis) => Promise<Reply>) => {
    const redis = pick();
    if (redis === undefined) throw new Error('there is no connection to write on');
    add(redis, 1);
    try {
      const [reply, written, copies] = await Promise.allSettled([send(redis), write(redis), redis.wait(1, msMax)]);
      if (reply.status === 'rejected') throw reply.reason;
      // What was refused behind it says nothing of the command itself: Redis has done that.
      const refused = [written, copies].find((each) => each.status === 'rejected');
      const isCopied = refused === undefined && copies.status === 'fulfilled' && copies.value >= 1;
      return { reply: reply.value, isCopied, cause: refused?.reason };
    } finally {
      add(redis, -1);
    }
  };
  return {
    isReady: () => connections.some((redis) => redis.status === 'ready'),
    async written<Reply>(send: (redis: Redis) => Promise<Reply>): Promise<Reply> {
      const { reply, isCopied, cause } = await asked(send);
      if (!isCopied) throw new NotCopied(msMax, { cause });
      return reply;
    },
    asked,
    connections,
  };
}
