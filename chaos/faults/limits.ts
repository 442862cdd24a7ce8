// Redis and Postgres are there, and have no room.

import type pg from 'pg';
import { withRedis } from '../environment/redis-queue.ts';
import { tryPostgres, type FaultKind } from './fault.ts';

/** After memory is there again an API makes no claims until it has looked, which one that was paused does late. */
const UNTIL_SEEN = 5;

/** Redis has no memory left: it refuses every write, those of the workers too, and claims give way. */
export const redisFull: FaultKind = {
  name: 'memory full',
  lane: 'stores',
  targets: ['redis'],
  seconds: [2, 5],
  isQuick: true,
  inflict: ({ stack, seconds, hold }) =>
    withRedis(stack, async (redis) => {
      const before = await redis.config('GET', 'maxmemory');
      const limit = String(Array.isArray(before) ? before[1] : Object.values(before)[0]);
      const used = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
      try {
        await redis.config('SET', 'maxmemory', used);
        await hold(seconds);
      } finally {
        await redis.config('SET', 'maxmemory', limit);
      }
      await hold(UNTIL_SEEN * seconds);
      return { detail: `${used} bytes`, losesClaims: true };
    }),
};

/** Everyone is sent away, and nobody is let in. */
const redisConnections: FaultKind = {
  name: 'no connections left',
  lane: 'stores',
  targets: ['redis'],
  seconds: [2, 5],
  isQuick: true,
  inflict: ({ stack, seconds, hold }) =>
    withRedis(stack, async (redis) => {
      try {
        await redis.config('SET', 'maxclients', 1);
        await redis.call('CLIENT', 'KILL', 'TYPE', 'NORMAL', 'SKIPME', 'YES');
        await hold(seconds);
      } finally {
        await redis.config('SET', 'maxclients', 10_000);
      }
      return {};
    }),
};

/** Others take every connection that Postgres has, and the moment one is given back they take that as well. */
const postgresConnections: FaultKind = {
  name: 'no connections left',
  lane: 'stores',
  targets: ['postgres'],
  seconds: [2, 5],
  isQuick: true,
  async inflict({ stack, seconds, hold }) {
    const taken: pg.Client[] = [];
    const takeAll = async () => {
      for (;;) {
        const client = await tryPostgres(stack);
        if (client === undefined) return;
        taken.push(client);
      }
    };
    try {
      await takeAll();
      await taken[0]?.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'weir'");
      await takeAll();
      await hold(seconds);
    } finally {
      await Promise.all(taken.map((client) => client.end()));
    }
    return { detail: `${taken.length} were taken` };
  },
};

export const limitFaults: FaultKind[] = [redisFull, redisConnections, postgresConnections];
