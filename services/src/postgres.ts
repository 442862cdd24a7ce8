import { chown, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type Connection, loadConnection } from './connection.ts';
import type { Home } from './home.ts';
import { type KeptServer, keepRunning } from './keep-running.ts';
import { type PostgresFolder, settlePostgresFolder } from './postgres-folder.ts';
import { findPostgresPrograms } from './postgres-programs.ts';
import { type StopStep, findProcesses, isCode, stopProcess } from './processes.ts';
import { run } from './run.ts';
import { type Server, startServer } from './server.ts';
import { makeStandby, type Primary } from './standby.ts';

const userName = 'weir';
const databaseName = 'weir';

/** After a crash Postgres replays its log before it answers: up to `max_wal_size` of it. */
const startSeconds = 120;

/**
 * SIGINT ends the connections and writes a checkpoint, SIGQUIT leaves that to the next start. Both lose nothing
 * committed.
 */
const stopSteps: StopStep[] = [
  ['SIGINT', 60],
  ['SIGQUIT', 10],
  ['SIGKILL', 10],
];

/**
 * For one machine that also runs all the rest. What makes a commit durable (`fsync`, `synchronous_commit`,
 * `full_page_writes`) stays as Postgres ships it: on.
 */
const settings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  maintenance_work_mem: '128MB',
  // Checkpoints far apart: the first change of a page after one writes the whole page to the log.
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  random_page_cost: '1.1',
  TimeZone: 'UTC',
  log_timezone: 'UTC',
};

/**
 * What Postgres may use of so many bytes: an eighth for its tables. Whole meters of 20 million events are read from what fits
 * into 1 GB, and not into 256 MB; a month of 100,000 customers does not fit into 1 GB.
 */
export function memorySettings(bytes: number): Record<'shared_buffers' | 'effective_cache_size', string> {
  const megabytes = bytes / 2 ** 20;
  return {
    shared_buffers: `${Math.round(Math.min(4_096, Math.max(128, megabytes / 8)))}MB`,
    effective_cache_size: `${Math.round(megabytes / 2)}MB`,
  };
}

type Log = (line: string) => void;

export interface Postgres extends KeptServer {
  databaseUrl: string;
}

/** Where an embedded Postgres is, and with which programs it runs. */
interface Installation extends PostgresFolder {
  data: string;
  programs: string;
  connectionFile: string;
}

/** A Postgres that is ready to be started, again and again, on the same data and at the same address. */
export interface PreparedPostgres {
  /** Of the database `weir`. */
  databaseUrl: string;
  start(): Promise<Server>;
  /** Makes the database `weir` where it is missing; Postgres must run. */
  createDatabase(): Promise<void>;
}

/**
 * Brings up a Postgres of its own, reachable from this machine only, with the database `weir`; its data stays in the
 * home. Takes the place of one that an earlier run left behind. With `standbyOf` it is a standby, and what was in the home
 * is gone. The caller holds the lock of the home.
 */
export async function openPostgres(home: Home, standbyOf?: Primary): Promise<Postgres> {
  if (standbyOf !== undefined) await makeStandby(home, standbyOf);
  const { start, createDatabase, databaseUrl } = await preparePostgres(home);
  const kept = await keepRunning('Postgres', start, home.log);
  try {
    await createDatabase();
  } catch (error) {
    await kept.stop();
    throw error;
  }
  return { ...kept, databaseUrl };
}

/** Does all that is needed before a Postgres of its own can be started. The caller holds the lock of the home. */
export async function preparePostgres(home: Home): Promise<PreparedPostgres> {
  const { path, log } = home;
  const place = await settlePostgresFolder(path, log);
  const installation: Installation = {
    ...place,
    data: join(place.folder, 'data'),
    programs: await findPostgresPrograms(home, place.user),
    connectionFile: join(path, 'postgres.json'),
  };
  await stopLeftoverPostgres(place.folder, log);
  const connection = await loadConnection(installation.connectionFile);
  await createData(installation, connection, log);
  return {
    databaseUrl: urlOf(connection, databaseName),
    start: () => start(home, installation, connection),
    createDatabase: () => createDatabase(connection),
  };
}

/** Ends the Postgres, or the `initdb`, that an earlier run left behind in this folder. */
async function stopLeftoverPostgres(folder: string, log: Log): Promise<void> {
  const pids = await findProcesses(['postgres', 'initdb'], `${folder}/`);
  if (pids.length > 0) log('Stopping the Postgres that an earlier run left behind.');
  // All at once: a child that the main process has just forked looks the same, and ends only with it.
  await Promise.all(pids.map((pid) => stopProcess(pid, stopSteps)));
}

/**
 * Made beside its place and then moved there, so that data half made by a run that was killed is never taken for
 * data.
 */
async function createData(at: Installation, { password }: Connection, log: Log): Promise<void> {
  const inFolder = await readdir(at.folder);
  await Promise.all(
    inFolder.filter((name) => name.startsWith('new-')).map((name) => rm(join(at.folder, name), { recursive: true })),
  );
  if (inFolder.includes('data')) return;

  log('Making the data of Postgres (once) …');
  const draft = await mkdtemp(join(at.folder, 'new-'));
  const passwordFile = join(draft, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  const { user } = at;
  if (user) await Promise.all([draft, passwordFile].map((path) => chown(path, user.uid, user.gid)));
  const options = {
    pgdata: join(draft, 'data'),
    username: userName,
    pwfile: passwordFile,
    auth: 'scram-sha-256',
    encoding: 'UTF8',
    locale: 'C',
    'locale-provider': 'builtin',
    'builtin-locale': 'C.UTF-8',
  };
  const made = await run(
    join(at.programs, 'initdb'),
    ['--no-instructions', ...Object.entries(options).map(([name, value]) => `--${name}=${value}`)],
    { seconds: 120, cwd: at.folder, env: environment(), user },
  );
  if (!made.ok) throw new Error(`The data of Postgres could not be made in ${at.folder}:\n${made.output}`);
  await rename(join(draft, 'data'), at.data);
  await rm(draft, { recursive: true });
}

/**
 * When its main process is killed alone, the rest of a Postgres notices and ends, but a new one cannot start until it
 * has.
 */
async function start(home: Home, at: Installation, connection: Connection): Promise<Server> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    try {
      await removeStalePidFile(at);
      return await startOnce(home, at, connection);
    } catch (error) {
      const isRestOfFormer = error instanceof Error && error.message.includes('shared memory block');
      if (!isRestOfFormer || Date.now() > deadline) throw error;
      await delay(200);
    }
  }
}

function startOnce(home: Home, at: Installation, { port, password }: Connection): Promise<Server> {
  const flags = Object.entries({ ...settings, ...memorySettings(availableMemory()) }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  return startServer(
    {
      name: 'Postgres',
      program: join(at.programs, 'postgres'),
      args: ['-D', at.data, '-p', String(port), ...flags],
      env: environment(),
      folder: at.folder,
      user: at.user,
      logPath: join(home.path, 'log', 'postgres.log'),
      startSeconds,
      stopSteps,
      isReady: () => answers({ port, password }, at),
      signal: home.signal,
    },
    home.log,
  );
}

/**
 * Postgres refuses to start when the process named in its pid file exists. After a kill -9 that may be another
 * program that was given the same number, or the dead one itself while nobody has taken note of its end; in a
 * container either can stay so.
 */
async function removeStalePidFile(at: Installation): Promise<void> {
  const running = await findProcesses(['postgres'], `${at.folder}/`);
  if (running.length === 0) await rm(join(at.data, 'postmaster.pid'), { force: true });
}

async function answers(connection: Connection, at: Installation): Promise<boolean> {
  try {
    await query(connection, 'postgres', 'SELECT 1');
    return true;
  } catch (error) {
    if (isCode(error, '28P01')) {
      throw new Error(
        `The password in ${at.connectionFile} does not open the data in ${at.data}. Put the file back that belongs to it, or move ${at.data} away to begin with empty data.`,
        { cause: error },
      );
    }
    return false;
  }
}

async function createDatabase(connection: Connection): Promise<void> {
  const found = await query(connection, 'postgres', `SELECT 1 FROM pg_database WHERE datname = '${databaseName}'`);
  if (found === 0) await query(connection, 'postgres', `CREATE DATABASE ${databaseName}`);
}

/** Returns how many rows came back. */
async function query(connection: Connection, database: string, sql: string): Promise<number> {
  const client = new pg.Client({
    connectionString: urlOf(connection, database),
    connectionTimeoutMillis: 5000,
  });
  // A connection that breaks between two messages is told here; the query that was under way rejects as well.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query(sql);
    return rows.length;
  } finally {
    await client.end().catch(() => {});
  }
}

function urlOf({ port, password }: Connection, database: string): string {
  return `postgresql://${userName}:${password}@127.0.0.1:${port}/${database}`;
}

/**
 * PGDATA, PGPORT and their like belong to the user's own Postgres. Messages in English, because one of them is looked
 * for.
 */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

/** In bytes: of the machine, or of the container if that may use less. */
function availableMemory(): number {
  // 0 without a limit, and a number beyond the machine's in some containers.
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
}
