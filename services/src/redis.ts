import { mkdir } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { Redis as RedisClient } from 'ioredis';
import { type Connection, loadConnection, writePrivateFile } from './connection.ts';
import type { Home } from './home.ts';
import { type KeptServer, keepRunning } from './keep-running.ts';
import { type StopStep, findProcesses, stopProcess } from './processes.ts';
import { environmentOf, type Program } from './find-program.ts';
import { findRedis } from './redis-packages.ts';
import { type Server, startServer } from './server.ts';

/** Redis reads its whole log into memory before it answers. */
const startSeconds = 120;

/** While Redis writes its first log, as a replica does that has just copied its primary, it refuses to end, and forgets that it was to. */
const stopSteps: StopStep[] = [...Array.from({ length: 30 }, (): StopStep => ['SIGTERM', 1]), ['SIGKILL', 10]];

export interface Redis extends KeptServer {
  redisUrl: string;
}

/** A Redis that is ready to be started, again and again, on the same data and at the same address. */
export interface PreparedRedis {
  /** Holds redis.conf and all that Redis writes. */
  folder: string;
  redisUrl: string;
  start(): Promise<Server>;
}

/**
 * Brings up a Redis of its own, reachable from this machine only. Every write is on disk before it is answered, and
 * nothing is ever evicted; the data stays in the home. Takes the place of one that an earlier run left behind. The
 * caller holds the lock of the home.
 */
export async function openRedis(home: Home, replicaOf?: string): Promise<Redis> {
  const { start, redisUrl } = await prepareRedis(home, replicaOf);
  const kept = await keepRunning('Redis', start, home.log);
  return { ...kept, redisUrl };
}

/** Does all that is needed before a Redis of its own can be started. The caller holds the lock of the home. */
export async function prepareRedis(home: Home, replicaOf?: string): Promise<PreparedRedis> {
  const folder = join(home.path, 'redis');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await stopLeftoverRedis(folder, home.log);
  const program = await findRedis(home);
  const connection = await loadConnection(join(home.path, 'redis.json'));
  const configuration = configurationFor(folder, connection, memoryBytes());
  await writePrivateFile(join(folder, 'redis.conf'), configuration + replicaSettings(replicaOf));
  return { folder, redisUrl: urlOf(connection), start: () => start(home, folder, program, connection) };
}

/** Ends the Redis that an earlier run left behind in this folder. Two on the same log would ruin it. */
async function stopLeftoverRedis(folder: string, log: (line: string) => void): Promise<void> {
  const pids = await findProcesses(['redis-server', 'valkey-server'], `${folder}/`);
  if (pids.length > 0) log('Stopping the Redis that an earlier run left behind.');
  await Promise.all(pids.map((pid) => stopProcess(pid, stopSteps)));
}

/** The content of redis.conf. */
export function configurationFor(folder: string, { port, password }: Connection, maxmemory: number): string {
  const settings: Record<string, string> = {
    bind: '127.0.0.1',
    port: String(port),
    requirepass: password,
    // In quotes, because the path may hold spaces.
    dir: JSON.stringify(folder),
    appendonly: 'yes',
    appendfsync: 'always',
    // A power cut can leave half a command at the end of the log. It was never answered: start without it.
    'aof-load-truncated': 'yes',
    // While Redis rewrites its log, answers take 25 to 50 ms at p99. A busy door fills the default of 64 MB in seconds.
    'auto-aof-rewrite-min-size': '256mb',
    save: '""',
    maxmemory: String(maxmemory),
    'maxmemory-policy': 'noeviction',
    // Keeps the path of this file on the command line, by which a Redis that was left behind is found.
    'set-proc-title': 'no',
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${value}\n`)
    .join('');
}

function replicaSettings(primaryUrl: string | undefined): string {
  if (primaryUrl === undefined) return '';
  const { hostname, port, password } = new URL(primaryUrl);
  return `replicaof ${hostname} ${port}\nmasterauth ${decodeURIComponent(password)}\n`;
}

function start(home: Home, folder: string, program: Program, connection: Connection): Promise<Server> {
  return startServer(
    {
      name: 'Redis',
      program: program.path,
      args: [join(folder, 'redis.conf')],
      env: environmentOf(program),
      folder,
      logPath: join(home.path, 'log', 'redis.log'),
      startSeconds,
      stopSteps,
      isReady: () => answers(connection),
      signal: home.signal,
    },
    home.log,
  );
}

async function answers(connection: Connection): Promise<boolean> {
  const client = new RedisClient(urlOf(connection), {
    lazyConnect: true,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    connectTimeout: 5000,
    commandTimeout: 5000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}

/**
 * A quarter of the machine, or of what its container may use: full, Redis refuses writes; without a limit the system
 * kills it.
 */
function memoryBytes(): number {
  const limit = process.constrainedMemory() || totalmem();
  return Math.floor(Math.min(limit, totalmem()) / 4);
}

function urlOf({ port, password }: Connection): string {
  return `redis://:${password}@127.0.0.1:${port}`;
}
