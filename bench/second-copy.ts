// A second copy of what Postgres or Redis holds, for the length of a round: on the same cores and the same disk as the first.

import { STANDBY } from '@weir/services/standby';
import { openTemporaryServices, type TemporaryOptions } from '@weir/services/temporary';
import type { Services } from '@weir/services/services';
import { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

export type Store = 'Postgres' | 'Redis';

/** It is there, and nothing waits for it any more once it is closed. */
export interface SecondCopy {
  close(): Promise<void>;
}

/** It copies what is there now, which is a round that has not begun. */
const FOLLOW_SECONDS_MAX = 60;

type Options = Pick<TemporaryOptions, 'cacheHome' | 'log'>;

/** Opens a standby without which no commit of the primary returns. */
export async function openStandby(primary: Services, options: Options): Promise<SecondCopy> {
  const { home, databaseUrl, redisUrl } = primary;
  const standby = await openTemporaryServices({ ...options, redisUrl, standbyOf: { home, databaseUrl } });
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => {});
  const name = async (standbys: string) => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${standbys}'`);
    await client.query('SELECT pg_reload_conf()');
  };
  const close = async () => {
    try {
      await name('');
    } finally {
      await client.end();
      await standby.close();
    }
  };
  try {
    await client.connect();
    await name(STANDBY);
    await until('the standby is synchronous', async () => {
      const { rows } = await client.query('SELECT FROM pg_stat_replication WHERE sync_state = $1', ['sync']);
      return rows.length === 1;
    });
    return { close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens a replica that can acknowledge what the primary was told, from its disk. */
export async function openReplica(primary: Services, options: Options): Promise<SecondCopy> {
  const { databaseUrl, redisUrl } = primary;
  const client = new Redis(redisUrl);
  client.on('error', () => {});
  // It has nothing to wait for others with, and keeps nothing for a replica that is gone.
  await client.config('SET', 'repl-diskless-sync-delay', '0');
  await client.config('SET', 'repl-backlog-ttl', '1');
  const replica = await openTemporaryServices({ ...options, databaseUrl, replicaOf: redisUrl });
  const eye = new Redis(replica.redisUrl);
  eye.on('error', () => {});
  const close = async () => {
    eye.disconnect();
    client.disconnect();
    await replica.close();
  };
  try {
    await until('the replica follows', async () => {
      const info = await eye.info();
      // While it writes its log anew, it acknowledges what is in its memory.
      const isOnDisk = !/aof_rewrite_(in_progress|scheduled):1/.test(info);
      return (
        isOnDisk && info.includes('master_link_status:up') && /state=online/.test(await client.info('replication'))
      );
    });
    return { close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + FOLLOW_SECONDS_MAX * 1_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`after ${FOLLOW_SECONDS_MAX} s it is not so that ${what}`);
    await delay(50);
  }
}
