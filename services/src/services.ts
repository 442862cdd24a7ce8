import { stopFormerApps } from './apps.ts';
import { type Home, makeHome } from './home.ts';
import type { KeptServer } from './keep-running.ts';
import { lockHome } from './lock.ts';
import { openPostgres } from './postgres.ts';
import { openRedis } from './redis.ts';
import type { Primary } from './standby.ts';

export interface ServicesOptions {
  /** The folder in which the embedded services keep their data, from run to run. Made when it is missing. */
  home: string;
  /**
   * Where programs are kept that had to be fetched or copied; sharing it among homes saves the work. Default: `home`.
   */
  cacheHome?: string;
  /** A Postgres that runs already; used as it is. */
  databaseUrl?: string | undefined;
  /** A Redis that runs already; used as it is. */
  redisUrl?: string | undefined;
  /** An embedded Postgres that runs: the one here is made anew as a standby of it. */
  standbyOf?: Primary | undefined;
  /** The address of a Redis that runs: the one here is a replica of it. */
  replicaOf?: string | undefined;
  /** How long the processes that an earlier run left behind may take to finish. Default: 15. */
  drainSeconds?: number;
  log: (line: string) => void;
  /** Aborted while it opens: what takes long is given up, and the call rejects. */
  signal?: AbortSignal;
}

/** A real Postgres and a real Redis. An embedded one that dies is started again at the same address. */
export interface Services {
  /** The true path of the home. */
  home: string;
  databaseUrl: string;
  redisUrl: string;
  /** Stops what was brought up, leaves the data, and gives the home back. Given services are left alone. */
  close(): Promise<void>;
}

/**
 * Returns the given services, and brings up an embedded one for each that is missing. A home belongs to one process
 * at a time: while another one holds it, this rejects and names its pid. What a killed run left behind is stopped
 * first. When one service does not start, the other is stopped again and the error tells why.
 */
export async function openServices(options: ServicesOptions): Promise<Services> {
  const path = await makeHome(options.home);
  const programs = options.cacheHome === undefined ? path : await makeHome(options.cacheHome);
  const home: Home = { path, programs, log: options.log, signal: options.signal };
  const unlock = await lockHome(path);
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    const closed = await Promise.allSettled(closers.map((closeOne) => closeOne()));
    await unlock();
    closed.forEach(valueOf);
  };
  try {
    // They still write to the services of their time, which are stopped next.
    await stopFormerApps(path, options.drainSeconds ?? 15, options.log);
    const keep = <T extends KeptServer>(server: T): T => {
      closers.push(() => server.stop());
      return server;
    };
    const [postgres, redis] = await Promise.allSettled([
      options.databaseUrl ? { databaseUrl: options.databaseUrl } : openPostgres(home, options.standbyOf).then(keep),
      options.redisUrl ? { redisUrl: options.redisUrl } : openRedis(home, options.replicaOf).then(keep),
    ]);
    // Both have settled by now, so closing misses none.
    const { databaseUrl } = valueOf(postgres);
    const { redisUrl } = valueOf(redis);
    return { home: path, databaseUrl, redisUrl, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function valueOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}
